#include "core/action/references.h"

#include <fmt/format.h>

#include "core/action/transitions.h"

namespace muster::core {

namespace {

constexpr std::size_t kMatchesShown = 5;

std::vector<ActionId> ids_of(const std::vector<ActionPtr>& actions) {
  std::vector<ActionId> ids;
  for (const ActionPtr& action : actions) ids.push_back(action->id());
  return ids;
}

}  // namespace

using Kind = ReferenceResolver::Target::Kind;

ReferenceResolver::ReferenceResolver(const State& state, const Submit& submit,
                                     const std::vector<ActionId>& ids,
                                     const std::vector<ActionPtr>* found)
    : state_(state), ids_(ids), found_(found) {
  for (std::size_t i = 0; i < submit.actions.size(); ++i) {
    if (!submit.actions[i].name.empty()) names_in_request_.emplace(submit.actions[i].name, i);
    ids_in_request_.emplace(ids[i], i);
  }
}

ActionPtr ReferenceResolver::find_finished(const ActionId& id) const {
  if (found_ == nullptr) return nullptr;
  for (const ActionPtr& action : *found_) {
    if (action->id() == id) return action;
  }
  return nullptr;
}

ReferenceResolver::Target ReferenceResolver::resolve(const std::string& reference,
                                                     const std::string& pointer) {
  const auto id = Uuid::parse(reference);
  if (!id) return resolve_name(reference, pointer);
  if (ids_in_request_.contains(*id)) return {Kind::New, *id, nullptr};
  if (ActionPtr live = state_.actions.find(*id)) return {Kind::Live, *id, std::move(live)};
  if (ActionPtr finished = find_finished(*id)) return {Kind::Finished, *id, std::move(finished)};
  if (found_ == nullptr) {
    missing_.ids.push_back(*id);
  } else {
    errors_.push_back(
        {pointer, ErrorCode::UnknownDependency, fmt::format("no action has the id {}", reference)});
  }
  return {};
}

ReferenceResolver::Target ReferenceResolver::resolve_name(const std::string& name,
                                                          const std::string& pointer) {
  const auto several = [&](const std::vector<ActionId>& ids) {
    std::vector<std::string> texts;
    for (const ActionId& id : ids) texts.push_back(id.to_string());
    errors_.push_back({pointer, ErrorCode::Ambiguous,
                       fmt::format("the name '{}' matches several actions, use an id: {}", name,
                                   fmt::join(texts, ", "))});
    return Target{};
  };
  std::vector<ActionId> own;
  const auto [first, last] = names_in_request_.equal_range(name);
  for (auto each = first; each != last; ++each) own.push_back(ids_[each->second]);
  if (own.size() > 1) return several(own);
  if (own.size() == 1) return {Kind::New, own.front(), nullptr};
  const auto live = state_.actions.find_by_name(name, kMatchesShown);
  if (live.size() > 1) return several(ids_of(live));
  if (live.size() == 1) return {Kind::Live, live.front()->id(), live.front()};
  if (found_ == nullptr) {
    missing_.names.push_back(name);
    return {};
  }
  std::vector<ActionPtr> finished;
  for (const ActionPtr& action : *found_) {
    if (action->spec->name == name) finished.push_back(action);
  }
  if (finished.size() > 1) return several(ids_of(finished));
  if (finished.size() == 1) return {Kind::Finished, finished.front()->id(), finished.front()};
  errors_.push_back({pointer, ErrorCode::UnknownDependency,
                     fmt::format("no action is called '{}'", name.substr(0, 64))});
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
  } else if (found_ == nullptr) {
    missing_.ids.push_back(id);
  }
}

void ReferenceResolver::check_parent(const ActionId& id, const std::string& pointer) {
  if (ids_in_request_.contains(id) || state_.actions.find(id) || find_finished(id)) return;
  if (found_ == nullptr) {
    missing_.ids.push_back(id);
  } else {
    errors_.push_back({pointer, ErrorCode::UnknownDependency,
                       fmt::format("no action has the id {}", id.to_string())});
  }
}

}  // namespace muster::core
