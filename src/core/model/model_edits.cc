#include "core/model/model_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/plan/plans.h"
#include "model/declaration.h"
#include "model/fingerprint.h"

namespace muster::core {
namespace {

constexpr std::size_t kErrorsNamedMax = 100;
constexpr std::size_t kPendingMax = 1000;
// Answers may lead to further questions, and edits of others may come in between.
constexpr int kRoundsMax = 10;

ErrorCode code_of(model::Refusal refusal) {
  switch (refusal) {
    case model::Refusal::InvalidRequest:
      return ErrorCode::InvalidRequest;
    case model::Refusal::InvalidLocation:
      return ErrorCode::InvalidLocation;
    case model::Refusal::InvalidType:
      return ErrorCode::InvalidType;
    case model::Refusal::ItemExists:
      return ErrorCode::ItemExists;
    case model::Refusal::MethodNotAllowed:
      return ErrorCode::MethodNotAllowed;
    case model::Refusal::ChildNotAllowed:
      return ErrorCode::ChildNotAllowed;
    case model::Refusal::InvalidChildType:
      return ErrorCode::InvalidChildType;
    case model::Refusal::InvalidReference:
      return ErrorCode::InvalidReference;
    case model::Refusal::PropertyNotAllowed:
      return ErrorCode::PropertyNotAllowed;
    case model::Refusal::ReadOnlyProperty:
      return ErrorCode::ReadOnlyProperty;
    case model::Refusal::PropertyNotSet:
      return ErrorCode::PropertyNotSet;
    case model::Refusal::NothingToUpdate:
      return ErrorCode::NothingToUpdate;
    case model::Refusal::MissingRequiredProperty:
      return ErrorCode::MissingRequiredProperty;
    case model::Refusal::MissingRequiredItem:
      return ErrorCode::MissingRequiredItem;
    case model::Refusal::Validation:
      return ErrorCode::Validation;
    case model::Refusal::Cardinality:
      return ErrorCode::Cardinality;
  }
  return ErrorCode::InvalidRequest;
}

// Of several errors the one that says most: a value that is wrong rather than an item that is not
// there because another one could not be made.
int weight(model::Refusal refusal) {
  switch (refusal) {
    case model::Refusal::InvalidLocation:
      return 0;
    case model::Refusal::MethodNotAllowed:
      return 1;
    case model::Refusal::ItemExists:
      return 2;
    default:
      return 3;
  }
}

// The id may not be one yet.
std::string place_of(const model::Path& parent, const std::string& id) {
  return fmt::format("{}/{}", parent.is_root() ? "" : parent.text(), id);
}

std::string describe(const model::Operation& operation) {
  if (const auto* create = std::get_if<model::CreateItem>(&operation)) {
    return fmt::format("create {}", place_of(create->parent, create->id));
  }
  if (const auto* inherit = std::get_if<model::InheritItem>(&operation)) {
    return fmt::format("inherit {} from {}", place_of(inherit->parent, inherit->id),
                       inherit->source.text());
  }
  if (const auto* update = std::get_if<model::UpdateItem>(&operation)) {
    return fmt::format("update {}", update->path.text());
  }
  return fmt::format("remove {}", std::get<model::RemoveItem>(operation).path.text());
}

std::string describe(const ModelChange& change) {
  if (const auto* operations = std::get_if<ModelOperations>(&change)) {
    if (operations->size() == 1) return describe(operations->front());
    return fmt::format("{} operations", operations->size());
  }
  if (const auto* apply = std::get_if<ApplyDeclaration>(&change)) {
    return fmt::format("apply {}{}", apply->at.text(),
                       apply->prune == model::Prune::Nothing ? "" : " with prune");
  }
  return fmt::format("restore revision {}", std::get<RestoreRevision>(change).number);
}

// The item that If-Match speaks of.
model::Path subject_of(const ModelChange& change) {
  if (const auto* apply = std::get_if<ApplyDeclaration>(&change)) return apply->at;
  const auto* operations = std::get_if<ModelOperations>(&change);
  if (!operations || operations->size() != 1) return {};
  const model::Operation& operation = operations->front();
  if (const auto* create = std::get_if<model::CreateItem>(&operation)) return create->parent;
  if (const auto* inherit = std::get_if<model::InheritItem>(&operation)) return inherit->parent;
  if (const auto* update = std::get_if<model::UpdateItem>(&operation)) return update->path;
  return std::get<model::RemoveItem>(operation).path;
}

std::optional<Error> check_match(const ModelState& model, const EditModel& edit) {
  if (!edit.if_match) return std::nullopt;
  const std::string current = fmt::format("model-{}", model.revision);
  const model::Path subject = subject_of(edit.change);
  const model::Node* node = model.tree.find(subject);
  if (*edit.if_match == current || (node && *edit.if_match == model::fingerprint(*node))) {
    return std::nullopt;
  }
  return Error{ErrorCode::RevisionMismatch,
               fmt::format("{} has changed since it was read: it is '{}' in '{}' now, not '{}'",
                           subject.text(), node ? model::fingerprint(*node) : "not there", current,
                           *edit.if_match)};
}

void refuse(Step& step, const EditModel& edit, Error error) {
  if (edit.idempotency) step.state.idempotency.abandon(edit.idempotency->key);
  step.reply(edit.request, std::move(error));
}

void answer(Step& step, const EditModel& edit, ChangeSetPtr changes) {
  const std::uint64_t revision = step.state.model->revision;
  if (edit.idempotency && !edit.dry_run) {
    PutIdempotency record{.key = edit.idempotency->key,
                          .digest = edit.idempotency->digest,
                          .actions = {},
                          .expires_at = step.now + step.state.options.idempotency_for,
                          .revision = revision};
    step.state.idempotency.put(record);
    step.effects.writes.push_back(std::move(record));
  } else if (edit.idempotency) {
    step.state.idempotency.abandon(edit.idempotency->key);
  }
  step.effects.replies.push_back(
      {edit.request, ModelReply{revision, std::move(changes), edit.dry_run}});
}

void put_revision(Step& step, Revision revision) {
  ModelState& model = *step.state.model;
  revision.number = ++model.revision;
  revision.at = step.now;
  for (const model::Change& change : *revision.changes) {
    step.effects.writes.push_back(PutItem{change.path, change.after});
  }
  count_changes(revision);
  if (revision.migration) revision.changes = std::make_shared<const model::ChangeSet>();
  model.kept.push_back({revision.number, revision.changes->size()});
  while (model.kept.size() > step.state.options.model_revisions_max) {
    const KeptRevision oldest = model.kept.front();
    model.kept.pop_front();
    step.effects.writes.push_back(DropRevision{oldest.number, oldest.changes});
  }
  model.last_change =
      fmt::format("revision {} by {}: {}", revision.number, revision.who, revision.what);
  invalidate_plans(step, fmt::format("the model has changed: {}", model.last_change));
  step.append_event(Event{.seq = 0,
                          .at = {},
                          .type = "model.revision",
                          .subject = fmt::format("{}", revision.number),
                          .name = revision.what,
                          .kind = {},
                          .target = {},
                          .status = fmt::format("{} added, {} changed, {} removed", revision.added,
                                                revision.changed, revision.removed),
                          .reason = revision.why,
                          .actor = revision.who,
                          .revision = revision.number});
  step.effects.writes.push_back(PutRevision{std::make_shared<const Revision>(std::move(revision))});
}

// Asks for the changes since the revision that is to be restored.
void ask_for_past(Step& step, PendingEdit pending) {
  ModelState& model = *step.state.model;
  const std::uint64_t wanted = std::get<RestoreRevision>(pending.edit.change).number;
  if (wanted == 0 || wanted > model.revision) {
    return refuse(step, pending.edit,
                  Error{ErrorCode::NotFound,
                        fmt::format("there is no revision {} of the model; the newest is {}",
                                    wanted, model.revision)});
  }
  const std::uint64_t oldest = model.kept.empty() ? model.revision : model.kept.front().number;
  if (wanted < oldest) {
    return refuse(step, pending.edit,
                  Error{ErrorCode::Compacted,
                        fmt::format("revision {} of the model is no longer kept; the oldest that "
                                    "is, is {}",
                                    wanted, oldest)});
  }
  if (++pending.rounds > kRoundsMax) {
    return refuse(step, pending.edit,
                  Error{ErrorCode::Conflict,
                        "others kept changing the model meanwhile; try again when they are done"});
  }
  const LookupId lookup = ++step.state.last_lookup;
  pending.asked_from = model.revision;
  step.effects.revision_reads.push_back({lookup, wanted + 1, model.revision});
  model.pending.emplace(lookup, std::move(pending));
}

model::EditOutcome compute(ModelState& model, const PendingEdit& pending) {
  if (const auto* apply = std::get_if<ApplyDeclaration>(&pending.edit.change)) {
    return model::apply(model.tree, *model.schema, apply->at, *apply->wanted, apply->prune,
                        pending.answers);
  }
  return model::edit(model.tree, *model.schema, std::get<ModelOperations>(pending.edit.change),
                     pending.edit.actor, pending.answers);
}

void ask(Step& step, PendingEdit pending, std::vector<model::Question> questions) {
  if (++pending.rounds > kRoundsMax) {
    return refuse(step, pending.edit,
                  Error{ErrorCode::Conflict,
                        fmt::format("after {} rounds of questions to plugins it is still not known "
                                    "whether the change is right; try again",
                                    kRoundsMax)});
  }
  const LookupId lookup = ++step.state.last_lookup;
  step.effects.questions.push_back({lookup, std::move(questions)});
  step.state.model->pending.emplace(lookup, std::move(pending));
}

void run(Step& step, PendingEdit pending) {
  ModelState& model = *step.state.model;
  if (auto mismatch = check_match(model, pending.edit)) {
    return refuse(step, pending.edit, std::move(*mismatch));
  }
  model::EditOutcome outcome = compute(model, pending);
  if (!outcome.questions.empty()) {
    return ask(step, std::move(pending), std::move(outcome.questions));
  }
  const EditModel& edit = pending.edit;
  if (!outcome.errors.empty()) return refuse(step, edit, to_error(outcome.errors));
  if (model.tree.size() > step.state.options.model_items_max) {
    const std::size_t size = model.tree.size();
    model::revert(model.tree, outcome.changes);
    return refuse(step, edit,
                  Error{ErrorCode::Cardinality,
                        fmt::format("the model would have {} items, at most {} are allowed", size,
                                    step.state.options.model_items_max)});
  }
  const auto changes = std::make_shared<const model::ChangeSet>(std::move(outcome.changes));
  if (edit.dry_run) model::revert(model.tree, *changes);
  if (!edit.dry_run && !changes->empty()) {
    Revision revision;
    revision.who = edit.who;
    revision.what = pending.what;
    revision.why = edit.why;
    revision.changes = changes;
    put_revision(step, std::move(revision));
  }
  answer(step, edit, changes);
}

void begin(Step& step, PendingEdit pending) {
  if (std::holds_alternative<RestoreRevision>(pending.edit.change)) {
    if (auto mismatch = check_match(*step.state.model, pending.edit)) {
      return refuse(step, pending.edit, std::move(*mismatch));
    }
    return ask_for_past(step, std::move(pending));
  }
  run(step, std::move(pending));
}

// True: the key has been answered, or is being worked on.
bool answer_from_key(Step& step, const EditModel& edit) {
  const auto* entry = step.state.idempotency.find(edit.idempotency->key);
  if (entry == nullptr) return false;
  if (const auto conflict = IdempotencyTable::conflict(*entry, *edit.idempotency)) {
    step.reply(edit.request, *conflict);
  } else {
    step.effects.replies.push_back({edit.request, ModelReply{entry->revision, nullptr, false}});
  }
  return true;
}

std::optional<PendingEdit> take_pending(Step& step, LookupId lookup) {
  if (!step.state.model) return std::nullopt;
  auto taken = step.state.model->pending.extract(lookup);
  if (taken.empty()) return std::nullopt;
  return std::move(taken.mapped());
}

// What the model was before the changes, newest first, as something that can be applied.
std::shared_ptr<const model::Declaration> declare_past(model::Tree& tree,
                                                       const std::vector<ChangeSetPtr>& changes) {
  for (const ChangeSetPtr& each : changes) model::revert(tree, *each);
  auto past =
      std::make_shared<const model::Declaration>(model::declare(tree.root(), model::Detail::Full));
  for (auto each = changes.rbegin(); each != changes.rend(); ++each) model::advance(tree, **each);
  return past;
}

void collect(const model::Node& node, model::ChangeSet& all) {
  all.push_back({node.path(), nullptr, node.item_ptr()});
  for (const auto& child : node.children()) collect(*child, all);
}

}  // namespace

Error to_error(const std::vector<model::ModelError>& errors) {
  std::vector<FieldError> fields;
  for (const model::ModelError& error : errors) {
    if (fields.size() == kErrorsNamedMax) break;
    fields.push_back({.pointer = {},
                      .code = code_of(error.code),
                      .detail = error.message,
                      .path = error.path.text(),
                      .property = error.property});
  }
  const auto first = std::ranges::max_element(
      errors, {}, [](const model::ModelError& error) { return weight(error.code); });
  std::string message = first->message;
  if (errors.size() > 1) {
    message = fmt::format("{} things are wrong, the first: {}", errors.size(), message);
  }
  return {code_of(first->code), std::move(message), std::move(fields)};
}

void start_model(Step& step) {
  if (!step.state.model) return;
  ModelState& model = *step.state.model;
  if (model.revision == 0) {
    auto all = std::make_shared<model::ChangeSet>();
    collect(model.tree.root(), *all);
    Revision first;
    first.who = "muster";
    first.what = "the empty model";
    first.changes = std::move(all);
    put_revision(step, std::move(first));
    model.pack_changes = model::pack_changes({}, *model.schema);
  } else if (!model.rewrite.empty()) {
    Revision migrated;
    migrated.who = "muster";
    migrated.what = fmt::format("migrate {}", fmt::join(model.migrated, ", "));
    migrated.migration = true;
    migrated.changes = std::make_shared<const model::ChangeSet>(std::exchange(model.rewrite, {}));
    put_revision(step, std::move(migrated));
  }
  if (!model.pack_changes.empty()) {
    step.effects.writes.push_back(PutModelPacks{model::versions_of(*model.schema)});
    // Their tasks were made by packs that are no longer there as they were.
    invalidate_plans(step, fmt::format("packs have changed: {}",
                                       fmt::join(std::exchange(model.pack_changes, {}), ", ")));
  }
}

void handle_edit(Step& step, const EditModel& edit) {
  if (!step.state.model) {
    return step.reply(edit.request, Error{ErrorCode::NotFound, "this controller has no model"});
  }
  if (edit.idempotency && answer_from_key(step, edit)) return;
  if (step.state.model->pending.size() >= kPendingMax) {
    return step.reply(edit.request,
                      Error{ErrorCode::Overloaded,
                            fmt::format("{} edits of the model wait for answers, which is the "
                                        "limit",
                                        kPendingMax)});
  }
  if (edit.idempotency) {
    step.state.idempotency.begin(*edit.idempotency, step.now + step.state.options.idempotency_for);
  }
  begin(step, PendingEdit{.edit = edit, .what = describe(edit.change)});
}

void handle_answered(Step& step, const ModelAnswered& answered) {
  auto pending = take_pending(step, answered.lookup);
  if (!pending) return;
  if (answered.problem) return refuse(step, pending->edit, *answered.problem);
  pending->answers.insert(answered.answers.begin(), answered.answers.end());
  begin(step, std::move(*pending));
}

void handle_revisions_read(Step& step, const RevisionsRead& read) {
  auto pending = take_pending(step, read.lookup);
  if (!pending) return;
  if (read.problem) return refuse(step, pending->edit, *read.problem);
  ModelState& model = *step.state.model;
  if (model.revision != pending->asked_from) return ask_for_past(step, std::move(*pending));
  pending->edit.change = ApplyDeclaration{model::Path(), declare_past(model.tree, read.changes),
                                          model::Prune::Everything};
  begin(step, std::move(*pending));
}

}  // namespace muster::core
