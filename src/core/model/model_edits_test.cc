#include "core/model/model_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/fingerprint.h"
#include "model/test_types.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what is written as a store would, and answers what the engine asks.
class Bench {
 public:
  explicit Bench(std::size_t revisions_max = 1000) {
    options_.schema = schema_;
    options_.model_revisions_max = revisions_max;
    restart();
  }

  // An engine over what is durable.
  void restart() {
    engine_ = std::make_unique<Engine>(options_);
    if (last_revision_ != 0) engine_->restore_model(restored());
    for (const auto& [key, record] : keys_) engine_->restore_idempotency(record);
    take(engine_->start(now()));
  }

  Reply edit(ModelChange change, std::optional<std::string> if_match = {}, bool dry_run = false,
             std::string key = {}) {
    EditModel edit;
    edit.request = ++request_;
    edit.who = "ann";
    edit.why = "because";
    edit.change = std::move(change);
    edit.if_match = std::move(if_match);
    edit.dry_run = dry_run;
    if (!key.empty()) edit.idempotency = IdempotencyKey{key, key};
    return run(std::move(edit));
  }
  Reply run(EditModel edit) {
    reply_.reset();
    take(engine_->step(now(), std::move(edit)));
    return reply_.value_or(Reply{0, Error{ErrorCode::Timeout, "no reply"}});
  }
  Reply create(const std::string& parent, const std::string& id, const std::string& type,
               model::GivenProperties properties = {}) {
    return edit(ModelOperations{model::CreateItem{path(parent), id, type, std::move(properties)}});
  }

  static model::Path path(const std::string& text) { return *model::Path::parse(text); }

  const model::Tree& tree() const { return tree_of(*engine_); }
  static const model::Tree& tree_of(const Engine& engine) { return engine.model()->tree; }
  std::uint64_t revision() const { return engine_->model()->revision; }
  const model::Node* find(const std::string& text) const { return tree().find(path(text)); }

  // Every item of the engine is in the store as it is, and no other.
  bool durable_is_current() const {
    std::map<model::Path, model::Item> current;
    const std::function<void(const model::Node&)> walk = [&](const model::Node& node) {
      current.emplace(node.path(), node.item());
      for (const auto& child : node.children()) walk(*child);
    };
    walk(tree().root());
    if (current.size() != items_.size()) return false;
    for (const auto& [at, item] : current) {
      const auto found = items_.find(at);
      if (found == items_.end() || !(*found->second == item)) return false;
    }
    return true;
  }

  std::vector<std::uint64_t> kept() const {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, revision] : revisions_) numbers.push_back(number);
    return numbers;
  }
  const Revision& newest() const { return *revisions_.rbegin()->second; }

  bool hold_answers = false;
  std::vector<ReadRevisions> held;
  void answer_held() {
    for (const ReadRevisions& read : std::exchange(held, {})) answer(read);
  }
  std::optional<Reply> reply_;
  std::vector<AskModel> asked;
  Engine& engine() { return *engine_; }
  void take(const Effects& effects) {
    for (const Write& write : effects.writes) keep(write);
    for (const Reply& reply : effects.replies) reply_ = reply;
    for (const AskModel& ask : effects.questions) asked.push_back(ask);
    for (const ReadRevisions& read : effects.revision_reads) {
      if (hold_answers) {
        held.push_back(read);
      } else {
        answer(read);
      }
    }
  }
  Timestamp now() { return Timestamp{++clock_ * 1'000'000}; }

 private:
  void keep(const Write& write) {
    if (const auto* item = std::get_if<PutItem>(&write)) {
      if (item->item) {
        items_[item->path] = item->item;
      } else {
        items_.erase(item->path);
      }
    } else if (const auto* revision = std::get_if<PutRevision>(&write)) {
      revisions_[revision->revision->number] = revision->revision;
      last_revision_ = revision->revision->number;
    } else if (const auto* drop = std::get_if<DropRevision>(&write)) {
      EXPECT_EQ(revisions_.at(drop->number)->changes->size(), drop->changes);
      revisions_.erase(drop->number);
    } else if (const auto* key = std::get_if<PutIdempotency>(&write)) {
      keys_[key->key] = *key;
    }
  }

  void answer(const ReadRevisions& read) {
    RevisionsRead done{.lookup = read.lookup, .changes = {}, .problem = {}};
    for (std::uint64_t number = read.last; number >= read.first; --number) {
      done.changes.push_back(revisions_.at(number)->changes);
    }
    take(engine_->step(now(), done));
  }

  RestoredModel restored() const {
    RestoredModel model{.tree = model::Tree(items_.at(model::Path())),
                        .revision = last_revision_,
                        .kept = {},
                        .migrated = {},
                        .rewrite = {},
                        .pack_changes = {}};
    std::vector<const model::Node*> later;
    for (const auto& [at, item] : items_) {
      if (at.is_root()) continue;
      const model::Node& node = model.tree.add(at, item);
      if (item->source && !node.source()) later.push_back(&node);
    }
    for (const model::Node* node : later) EXPECT_TRUE(model.tree.connect(*node));
    for (const auto& [number, revision] : revisions_) {
      model.kept.push_back({number, revision->changes->size()});
    }
    return model;
  }

  const model::SchemaPtr schema_ = model::testing::test_schema();
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  std::map<model::Path, model::ItemPtr> items_;
  std::map<std::uint64_t, RevisionPtr> revisions_;
  std::map<std::string, PutIdempotency> keys_;
  std::uint64_t last_revision_ = 0;
  RequestId request_ = 0;
  std::int64_t clock_ = 1000;
};

const Error* error_of(const Reply& reply) { return std::get_if<Error>(&reply.body); }
ModelReply answer_of(const Reply& reply) {
  if (const Error* error = error_of(reply)) ADD_FAILURE() << error->message;
  return std::get<ModelReply>(reply.body);
}

TEST(ModelEdits, ANewModelIsWrittenWhole) {
  const Bench bench;
  EXPECT_EQ(bench.revision(), 1u);
  EXPECT_TRUE(bench.durable_is_current());
  EXPECT_EQ(bench.newest().what, "the empty model");
}

TEST(ModelEdits, AnEditIsOneRevisionWithWhoAndWhy) {
  Bench bench;
  const ModelReply reply =
      answer_of(bench.create("/software/items", "vim", "package", {{"name", "vim"}}));
  EXPECT_EQ(reply.revision, 2u);
  EXPECT_EQ(reply.changes->size(), 1u);
  EXPECT_EQ(bench.newest().who, "ann");
  EXPECT_EQ(bench.newest().why, "because");
  EXPECT_EQ(bench.newest().what, "create /software/items/vim");
  EXPECT_EQ(bench.newest().added, 1u);
  EXPECT_TRUE(bench.durable_is_current());
  // A collection that comes with its item does not count.
  const ModelReply bundle =
      answer_of(bench.create("/software/items", "all", "bundle", {{"name", "all"}}));
  EXPECT_GT(bundle.changes->size(), 1u);
  EXPECT_EQ(bench.newest().added, 1u);
}

TEST(ModelEdits, AllErrorsOfARequestComeAtOnceAndChangeNothing) {
  Bench bench;
  const Reply reply =
      bench.create("/software/items", "vim", "package", {{"name", "NOT GOOD"}, {"colour", "red"}});
  const Error* error = error_of(reply);
  ASSERT_NE(error, nullptr);
  ASSERT_EQ(error->fields.size(), 2u);
  EXPECT_EQ(error->fields[0].path, "/software/items/vim");
  EXPECT_EQ(bench.revision(), 1u);
  EXPECT_TRUE(bench.durable_is_current());
}

TEST(ModelEdits, ADryRunTellsAndChangesNothing) {
  Bench bench;
  const ModelReply reply = answer_of(
      bench.edit(ModelOperations{model::CreateItem{
                     Bench::path("/software/items"), "vim", "package", {{"name", "vim"}}}},
                 {}, true));
  EXPECT_TRUE(reply.dry_run);
  EXPECT_EQ(reply.changes->size(), 1u);
  EXPECT_EQ(bench.find("/software/items/vim"), nullptr);
  EXPECT_EQ(bench.revision(), 1u);
}

TEST(ModelEdits, AnUnchangedDeclarationMakesNoRevision) {
  Bench bench;
  (void)answer_of(bench.create("/software/items", "vim", "package", {{"name", "vim"}}));
  const auto declared = std::make_shared<const model::Declaration>(
      model::declare(bench.tree().root(), model::Detail::Brief));
  const ModelReply reply =
      answer_of(bench.edit(ApplyDeclaration{model::Path(), declared, model::Prune::Undeclared}));
  EXPECT_TRUE(reply.changes->empty());
  EXPECT_EQ(reply.revision, 2u);
}

TEST(ModelEdits, IfMatchKeepsCrossingEditsApart) {
  Bench bench;
  (void)answer_of(bench.create("/software/items", "vim", "package", {{"name", "vim"}}));
  const auto update = [](const std::string& version) {
    return ModelOperations{
        model::UpdateItem{Bench::path("/software/items/vim"), {{"version", version}}, {}}};
  };
  const std::string seen = model::fingerprint(*bench.find("/software/items/vim"));
  (void)answer_of(bench.edit(update("2"), seen));
  const Reply second = bench.edit(update("3"), seen);
  ASSERT_NE(error_of(second), nullptr);
  EXPECT_EQ(error_of(second)->code, ErrorCode::RevisionMismatch);
  // An edit elsewhere does not disturb who looks at the item, but does who looks at the model.
  const std::string fresh = model::fingerprint(*bench.find("/software/items/vim"));
  (void)answer_of(bench.create("/software/items", "git", "package", {{"name", "git"}}));
  EXPECT_EQ(error_of(bench.edit(update("4"), "model-3"))->code, ErrorCode::RevisionMismatch);
  (void)answer_of(bench.edit(update("4"), fresh));
  (void)answer_of(bench.edit(update("5"), "model-5"));
}

TEST(ModelEdits, ARepeatedKeyIsAnsweredAgainAlsoAfterARestart) {
  Bench bench;
  const ModelOperations create{
      model::CreateItem{Bench::path("/software/items"), "vim", "package", {{"name", "vim"}}}};
  (void)answer_of(bench.edit(create, {}, false, "k1"));
  (void)answer_of(bench.create("/software/items", "git", "package", {{"name", "git"}}));
  bench.restart();
  const ModelReply again = answer_of(bench.edit(create, {}, false, "k1"));
  EXPECT_EQ(again.revision, 2u);
  EXPECT_EQ(again.changes, nullptr);
  EXPECT_EQ(bench.revision(), 3u);
}

TEST(ModelEdits, RestoringARevisionGivesItsModelAsANewRevision) {
  Bench bench;
  (void)answer_of(bench.create("/software/items", "vim", "package", {{"name", "vim"}}));
  const model::Declaration then = model::declare(bench.tree().root(), model::Detail::Full);
  (void)answer_of(bench.edit(ModelOperations{
      model::UpdateItem{Bench::path("/software/items/vim"), {{"version", "9"}}, {}}}));
  (void)answer_of(bench.create("/software/items", "git", "package", {{"name", "git"}}));
  (void)answer_of(
      bench.edit(ModelOperations{model::RemoveItem{Bench::path("/software/items/vim")}}));
  bench.restart();
  const ModelReply reply = answer_of(bench.edit(RestoreRevision{2}));
  EXPECT_EQ(reply.revision, 6u);
  EXPECT_EQ(bench.newest().what, "restore revision 2");
  EXPECT_EQ(model::declare(bench.tree().root(), model::Detail::Full), then);
  EXPECT_TRUE(bench.durable_is_current());
}

TEST(ModelEdits, AnEditInBetweenDoesNotSpoilARestore) {
  Bench bench;
  (void)answer_of(bench.create("/software/items", "vim", "package", {{"name", "vim"}}));
  (void)answer_of(bench.create("/software/items", "git", "package", {{"name", "git"}}));
  bench.hold_answers = true;
  (void)bench.edit(RestoreRevision{1});
  ASSERT_EQ(bench.held.size(), 1u);
  (void)answer_of(bench.create("/software/items", "tig", "package", {{"name", "tig"}}));
  bench.answer_held();  // about a model that has changed meanwhile: asked again
  bench.answer_held();
  ASSERT_TRUE(bench.reply_);
  EXPECT_EQ(answer_of(*bench.reply_).revision, 5u);
  EXPECT_EQ(bench.find("/software/items/tig"), nullptr);
  EXPECT_TRUE(bench.durable_is_current());
}

TEST(ModelEdits, OldRevisionsGoAndCannotBeRestored) {
  Bench bench(3);
  for (const char* id : {"a", "b", "c", "d"}) {
    (void)answer_of(bench.create("/software/items", id, "package", {{"name", id}}));
  }
  EXPECT_THAT(bench.kept(), ElementsAre(3u, 4u, 5u));
  EXPECT_EQ(error_of(bench.edit(RestoreRevision{2}))->code, ErrorCode::Compacted);
  EXPECT_EQ(error_of(bench.edit(RestoreRevision{6}))->code, ErrorCode::NotFound);
  (void)answer_of(bench.edit(RestoreRevision{3}));
  EXPECT_NE(bench.find("/software/items/b"), nullptr);
  EXPECT_EQ(bench.find("/software/items/c"), nullptr);
}

}  // namespace
}  // namespace muster::core
