#include "store/model_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/fit.h"

namespace muster::store {
namespace {

constexpr std::size_t kModelPage = 5000;
constexpr std::size_t kProblemsShown = 20;

Error unusable(const model::Misfits& misfits) {
  return {ErrorCode::ModelUnfit,
          fmt::format("the model in the store cannot be used with these packs; give the packs that "
                      "it was made with, or a version of them with migrations:{}",
                      misfits.text(kProblemsShown))};
}

// Each stored item, in an order in which what is above comes first.
template <typename Visit>
Result<void> for_each_item(Store& store, Visit visit) {
  std::string after;
  while (true) {
    MUSTER_TRY_ASSIGN(RecordPage page, store.load(Space::Item, after, kModelPage));
    for (const Record& record : page.records) {
      after = record.key;
      visit(record.key, decode_item(record.value));
    }
    if (!page.more || page.records.empty()) return {};
  }
}

class TreeBuilder {
 public:
  TreeBuilder(const model::Schema& schema, model::Misfits& misfits)
      : schema_(schema), misfits_(misfits) {}

  // What is above it must have been added before.
  void add(const model::Path& path, model::ItemRecord record) {
    auto item = model::to_item(std::move(record), schema_);
    if (!item) {
      unusable_.insert(path);
      return misfits_.add(path, item.error().message);
    }
    if (path.is_root()) {
      tree_.emplace(std::move(*item));
      return;
    }
    const model::Node* parent = tree_ ? tree_->find(path.parent()) : nullptr;
    // Of a type that is not there one item is told, not everything below it.
    if (!parent) return left_out(path.parent(), path);
    const model::Node& node = tree_->add(*parent, path.id(), std::move(*item));
    if (node.item().source && !node.source()) unconnected_.push_back(&node);
  }

  std::optional<model::Tree> finish() {
    if (!tree_) {
      if (!misfits_.any()) misfits_.add(model::Path(), "the root is missing");
      return std::nullopt;
    }
    for (const model::Node* node : unconnected_) {
      if (tree_->connect(*node) || unusable_.contains(*node->item().source)) continue;
      misfits_.add(node->path(), fmt::format("inherits from {}, which is not there",
                                             node->item().source->text()));
    }
    model::check_fit(*tree_, schema_, unusable_, misfits_);
    return std::move(tree_);
  }

 private:
  void left_out(const model::Path& parent, const model::Path& path) {
    if (!unusable_.contains(parent)) misfits_.add(path, "what it stands in is missing");
    unusable_.insert(path);
  }

  const model::Schema& schema_;
  model::Misfits& misfits_;
  std::optional<model::Tree> tree_;
  std::vector<const model::Node*> unconnected_;
  std::set<model::Path> unusable_;
};

Result<model::Path> path_of(const std::string& key) { return model::Path::parse(key); }

std::string unreadable(const std::string& key, const Error& error) {
  return fmt::format("the record '{}' cannot be read: {}", key, error.message);
}

std::optional<model::Tree> build_as_it_is(Store& store, const model::Schema& schema,
                                          model::Misfits& misfits, Result<void>& read) {
  TreeBuilder builder(schema, misfits);
  read = for_each_item(store, [&](const std::string& key, Result<model::ItemRecord> record) {
    const auto path = path_of(key);
    if (!path || !record) {
      misfits.add(path.value_or(model::Path()),
                  unreadable(key, path ? record.error() : path.error()));
    } else {
      builder.add(*path, std::move(*record));
    }
  });
  if (!read) return std::nullopt;
  return builder.finish();
}

struct Migrated {
  std::optional<model::Tree> tree;
  std::vector<std::string> done;
  std::vector<model::Change> rewrite;
};

Result<Migrated> build_migrated(Store& store, const model::Schema& schema,
                                const model::PackVersions& from, model::Misfits& misfits) {
  model::ItemRecords before;
  MUSTER_TRY(for_each_item(store, [&](const std::string& key, Result<model::ItemRecord> record) {
    auto path = path_of(key);
    if (!path || !record) {
      misfits.add(path.value_or(model::Path()),
                  unreadable(key, path ? record.error() : path.error()));
    } else {
      before.emplace_hint(before.end(), std::move(*path), std::move(*record));
    }
  }));
  model::ItemRecords after = before;
  Migrated result;
  result.done = model::migrate(after, from, schema);
  TreeBuilder builder(schema, misfits);
  for (const auto& [path, record] : after) builder.add(path, record);
  result.tree = builder.finish();
  if (!result.tree) return result;
  for (const auto& [path, record] : after) {
    const auto old = before.find(path);
    if (old != before.end() && old->second == record) continue;
    const model::Node* node = result.tree->find(path);
    if (!node) continue;  // told as a misfit
    // What it was has no meaning for these types; that it was there is all that counts.
    const model::ItemPtr was = old == before.end() ? nullptr : node->item_ptr();
    result.rewrite.push_back({path, was, node->item_ptr()});
  }
  for (const auto& [path, record] : before) {
    if (after.contains(path)) continue;
    result.rewrite.push_back({path, result.tree->root().item_ptr(), nullptr});
  }
  std::ranges::sort(result.rewrite, {}, &model::Change::path);
  return result;
}

Error no_such_revision(std::uint64_t number, std::uint64_t newest) {
  return {ErrorCode::NotFound,
          fmt::format("there is no revision {} of the model; the newest is {}", number, newest)};
}

Result<std::uint64_t> newest_revision(Store& store) {
  MUSTER_TRY_ASSIGN(const auto newest, list_revisions(store, 0, 1));
  return newest.empty() ? std::uint64_t{0} : newest.front().number;
}

Result<RevisionHead> need_revision(Store& store, std::uint64_t number) {
  MUSTER_TRY_ASSIGN(auto head, find_revision(store, number));
  if (head) return std::move(*head);
  MUSTER_TRY_ASSIGN(const std::uint64_t newest, newest_revision(store));
  if (number == 0 || number > newest) return fail(no_such_revision(number, newest));
  return fail(ErrorCode::Compacted, "revision {} of the model is no longer kept", number);
}

Error across_migration(const RevisionHead& head) {
  return {ErrorCode::Conflict,
          fmt::format("revision {} of the model has migrated packs ({}); what was before it has "
                      "other types and cannot be compared or restored",
                      head.number, head.what)};
}

// The changes as values of the model as it is now.
Result<core::ChangeSetPtr> resolve(std::vector<ItemChange> changes, const model::Schema& schema) {
  auto result = std::make_shared<model::ChangeSet>();
  result->reserve(changes.size());
  for (ItemChange& change : changes) {
    model::Change resolved{change.path, nullptr, nullptr};
    if (change.before) {
      MUSTER_TRY_ASSIGN(resolved.before, model::to_item(std::move(*change.before), schema));
    }
    if (change.after) {
      MUSTER_TRY_ASSIGN(resolved.after, model::to_item(std::move(*change.after), schema));
    }
    result->push_back(std::move(resolved));
  }
  return core::ChangeSetPtr(std::move(result));
}

}  // namespace

Result<std::vector<RevisionHead>> list_revisions(Store& store, std::uint64_t before,
                                                 std::size_t limit) {
  const std::string after = before == 0 ? std::string() : revision_key(before);
  MUSTER_TRY_ASSIGN(const RecordPage page, store.load(Space::Revision, after, limit));
  std::vector<RevisionHead> heads;
  heads.reserve(page.records.size());
  for (const Record& record : page.records) {
    MUSTER_TRY_ASSIGN(RevisionHead head, decode_revision(record.value));
    heads.push_back(std::move(head));
  }
  return heads;
}

Result<std::optional<RevisionHead>> find_revision(Store& store, std::uint64_t number) {
  MUSTER_TRY_ASSIGN(const auto value, store.get(Space::Revision, revision_key(number)));
  if (!value) return std::optional<RevisionHead>();
  MUSTER_TRY_ASSIGN(RevisionHead head, decode_revision(*value));
  return std::optional<RevisionHead>(std::move(head));
}

Result<std::vector<ItemChange>> read_changes(Store& store, const RevisionHead& head) {
  std::vector<ItemChange> changes;
  for (std::uint32_t part = 0; changes.size() < head.changes; ++part) {
    MUSTER_TRY_ASSIGN(const auto value,
                      store.get(Space::RevisionPart, part_key(head.number, part)));
    if (!value) {
      return fail(ErrorCode::Compacted, "the changes of revision {} are no longer kept",
                  head.number);
    }
    MUSTER_TRY_ASSIGN(std::vector<ItemChange> more, decode_part(*value));
    if (more.empty()) {
      return fail(ErrorCode::DecodeFailed, "part {} of revision {} has no changes", part,
                  head.number);
    }
    for (ItemChange& change : more) changes.push_back(std::move(change));
  }
  return changes;
}

Result<std::vector<ItemChange>> compare_revisions(Store& store, std::uint64_t from,
                                                  std::uint64_t to) {
  MUSTER_TRY(need_revision(store, from));
  std::map<model::Path, ItemChange> together;
  for (std::uint64_t number = from + 1; number <= to; ++number) {
    MUSTER_TRY_ASSIGN(const RevisionHead head, need_revision(store, number));
    if (head.migration) return fail(across_migration(head));
    MUSTER_TRY_ASSIGN(std::vector<ItemChange> changes, read_changes(store, head));
    for (ItemChange& change : changes) {
      const model::Path path = change.path;
      const auto [place, first] = together.try_emplace(path, change);
      if (!first) place->second.after = std::move(change.after);
    }
  }
  std::vector<ItemChange> result;
  for (auto& [path, change] : together) {
    if (change.before != change.after) result.push_back(std::move(change));
  }
  return result;
}

core::RevisionsRead answer_revisions(Store& store, const model::Schema& schema,
                                     const core::ReadRevisions& read) {
  core::RevisionsRead answer{.lookup = read.lookup, .changes = {}, .problem = {}};
  const auto fill = [&]() -> Result<void> {
    for (std::uint64_t number = read.last; number >= read.first; --number) {
      MUSTER_TRY_ASSIGN(const RevisionHead head, need_revision(store, number));
      if (head.migration) return fail(across_migration(head));
      MUSTER_TRY_ASSIGN(std::vector<ItemChange> changes, read_changes(store, head));
      MUSTER_TRY_ASSIGN(core::ChangeSetPtr resolved, resolve(std::move(changes), schema));
      answer.changes.push_back(std::move(resolved));
    }
    return {};
  };
  if (auto filled = fill(); !filled) answer.problem = filled.error();
  return answer;
}

Result<std::optional<core::RestoredModel>> load_model(Store& store, const model::Schema& schema) {
  MUSTER_TRY_ASSIGN(const std::uint64_t revision, newest_revision(store));
  if (revision == 0) return std::optional<core::RestoredModel>();
  MUSTER_TRY_ASSIGN(const auto packs, store.get(Space::Meta, kModelPacksKey));
  if (!packs) {
    return fail(ErrorCode::DecodeFailed,
                "the store has a model but not the packs it was made with");
  }
  MUSTER_TRY_ASSIGN(const model::PackVersions from, decode_packs(*packs));

  model::Misfits misfits;
  for (const std::string& older : model::version_problems(from, schema)) misfits.add_first(older);
  if (misfits.any()) return fail(unusable(misfits));

  std::vector<std::string> pack_changes = model::pack_changes(from, schema);
  Migrated migrated;
  if (!pack_changes.empty()) {
    MUSTER_TRY_ASSIGN(migrated, build_migrated(store, schema, from, misfits));
  } else {
    Result<void> read;
    migrated.tree = build_as_it_is(store, schema, misfits, read);
    MUSTER_TRY(std::move(read));
  }
  if (misfits.any() || !migrated.tree) {
    for (const std::string& gone : model::missing_packs(from, schema)) misfits.add_first(gone);
    return fail(unusable(misfits));
  }

  core::RestoredModel restored{.tree = std::move(*migrated.tree),
                               .revision = revision,
                               .kept = {},
                               .migrated = std::move(migrated.done),
                               .rewrite = std::move(migrated.rewrite),
                               .pack_changes = std::move(pack_changes)};
  for (std::uint64_t before = 0;;) {
    MUSTER_TRY_ASSIGN(const auto heads, list_revisions(store, before, kModelPage));
    for (const RevisionHead& head : heads) restored.kept.push_front({head.number, head.changes});
    if (heads.size() < kModelPage) break;
    before = heads.back().number;
  }
  return std::optional<core::RestoredModel>(std::move(restored));
}

}  // namespace muster::store
