#include "core/action/references.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/action/transitions.h"

namespace muster::core {

namespace {

constexpr std::size_t kMatchesShown = 5;
constexpr std::size_t kPrefixDigitsMin = 4;
constexpr std::size_t kIdTextSize = 36;

std::vector<ActionId> ids_of(const std::vector<ActionPtr>& actions) {
  std::vector<ActionId> ids;
  for (const ActionPtr& action : actions) ids.push_back(action->id());
  return ids;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

}  // namespace

bool is_id_prefix(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!digit && c != '-') return false;
    digits += digit ? 1U : 0U;
  }
  return text.size() <= kIdTextSize && digits >= kPrefixDigitsMin;
}

using Kind = ReferenceResolver::Target::Kind;

ReferenceResolver::ReferenceResolver(const State& state, const Submit& submit,
                                     const std::vector<ActionId>& ids, const Lookup& asked,
                                     const std::vector<ActionPtr>& found)
    : state_(state),
      ids_(ids),
      asked_(asked),
      asked_ids_(asked.ids.begin(), asked.ids.end()),
      asked_names_(asked.names.begin(), asked.names.end()) {
  for (std::size_t i = 0; i < submit.actions.size(); ++i) {
    if (!submit.actions[i].name.empty()) names_in_request_.emplace(submit.actions[i].name, i);
    ids_in_request_.emplace(ids[i], i);
  }
  // An action that was asked for by id and by name comes twice.
  for (const ActionPtr& action : found) {
    if (found_by_id_.emplace(action->id(), action).second) found_.push_back(action);
  }
}

Lookup ReferenceResolver::missing() const {
  Lookup all = asked_;
  all.ids.insert(all.ids.end(), missing_.ids.begin(), missing_.ids.end());
  all.names.insert(all.names.end(), missing_.names.begin(), missing_.names.end());
  all.prefixes.insert(all.prefixes.end(), missing_.prefixes.begin(), missing_.prefixes.end());
  return all;
}

ActionPtr ReferenceResolver::find_finished(const ActionId& id) const {
  const auto found = found_by_id_.find(id);
  return found == found_by_id_.end() || !found->second->is_final() ? nullptr : found->second;
}

bool ReferenceResolver::must_ask(const ActionId& id) {
  if (asked_ids_.contains(id)) return false;
  if (missing_ids_.insert(id).second) missing_.ids.push_back(id);
  return true;
}

ReferenceResolver::Target ReferenceResolver::resolve(const std::string& reference,
                                                     const std::string& pointer) {
  const auto id = Uuid::parse(reference);
  return id ? resolve_id(*id, reference, pointer) : resolve_name(reference, pointer);
}

ReferenceResolver::Target ReferenceResolver::resolve_id(const ActionId& id,
                                                        const std::string& reference,
                                                        const std::string& pointer) {
  if (ids_in_request_.contains(id)) return {Kind::New, id, nullptr};
  if (ActionPtr live = state_.actions.find(id)) return {Kind::Live, id, std::move(live)};
  if (ActionPtr finished = find_finished(id)) return {Kind::Finished, id, std::move(finished)};
  if (!must_ask(id)) {
    errors_.push_back(
        {pointer, ErrorCode::UnknownDependency, fmt::format("no action has the id {}", reference)});
  }
  return {};
}

ReferenceResolver::Target ReferenceResolver::ambiguous(const std::string& reference,
                                                       const std::vector<ActionId>& ids,
                                                       const std::string& pointer) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(ids.size(), kMatchesShown); ++i) {
    texts.push_back(ids[i].to_string());
  }
  if (ids.size() > kMatchesShown) texts.emplace_back("...");
  errors_.push_back({pointer, ErrorCode::Ambiguous,
                     fmt::format("'{}' matches several actions, use an id: {}",
                                 reference.substr(0, 64), fmt::join(texts, ", "))});
  return {};
}

ReferenceResolver::Target ReferenceResolver::resolve_name(const std::string& name,
                                                          const std::string& pointer) {
  std::vector<ActionId> own;
  const auto [first, last] = names_in_request_.equal_range(name);
  for (auto each = first; each != last; ++each) own.push_back(ids_[each->second]);
  if (own.size() > 1) return ambiguous(name, own, pointer);
  if (own.size() == 1) return {Kind::New, own.front(), nullptr};
  const auto live = state_.actions.find_by_name(name, kMatchesShown);
  if (live.size() > 1) return ambiguous(name, ids_of(live), pointer);
  if (live.size() == 1) return {Kind::Live, live.front()->id(), live.front()};
  if (!asked_names_.contains(name)) {
    if (missing_names_.insert(name).second) {
      missing_.names.push_back(name);
      if (is_id_prefix(name)) missing_.prefixes.push_back(lower(name));
    }
    return {};
  }
  std::vector<ActionPtr> finished;
  for (const ActionPtr& action : found_) {
    if (action->is_final() && action->spec->name == name) finished.push_back(action);
  }
  if (finished.size() > 1) return ambiguous(name, ids_of(finished), pointer);
  if (finished.size() == 1) return {Kind::Finished, finished.front()->id(), finished.front()};
  return resolve_prefix(name, pointer);
}

ReferenceResolver::Target ReferenceResolver::resolve_prefix(const std::string& reference,
                                                            const std::string& pointer) {
  std::vector<ActionId> matching;
  if (is_id_prefix(reference)) {
    for (const ActionPtr& action : found_) {
      if (action->id().to_string().starts_with(lower(reference))) matching.push_back(action->id());
    }
  }
  if (matching.size() > 1) return ambiguous(reference, matching, pointer);
  // What the store showed as live may have ended meanwhile; then it is asked for by its id.
  if (matching.size() == 1) return resolve_id(matching.front(), reference, pointer);
  errors_.push_back({pointer, ErrorCode::UnknownDependency,
                     fmt::format("no action is called '{}'", reference.substr(0, 64))});
  return {};
}

void ReferenceResolver::check_free(const ActionId& id, const std::string& pointer) {
  if (ids_in_request_.count(id) > 0) {
    std::size_t times = 0;
    for (const ActionId& other : ids_) times += other == id ? 1U : 0U;
    if (times > 1) {
      errors_.push_back({pointer, ErrorCode::DuplicateId,
                         fmt::format("the id {} stands twice in the request", id.to_string())});
      return;
    }
  }
  if (state_.actions.find(id) || find_finished(id)) {
    errors_.push_back(
        {pointer, ErrorCode::DuplicateId, fmt::format("the id {} is taken", id.to_string())});
  } else {
    (void)must_ask(id);
  }
}

void ReferenceResolver::check_parent(const ActionId& id, const std::string& pointer) {
  if (ids_in_request_.contains(id) || state_.actions.find(id)) return;
  if (const ActionPtr ended = find_finished(id)) {
    errors_.push_back({pointer, ErrorCode::Conflict,
                       fmt::format("the parent {} is {} already; a derived action needs one that "
                                   "has not ended",
                                   describe(*ended), name(ended->status))});
  } else if (!must_ask(id)) {
    errors_.push_back({pointer, ErrorCode::UnknownDependency,
                       fmt::format("no action has the id {}", id.to_string())});
  }
}

}  // namespace muster::core
