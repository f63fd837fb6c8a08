#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/state.h"

namespace muster::core {

// Whether a text may be the first digits of an id: hexadecimal digits, at least four, and dashes.
bool is_id_prefix(std::string_view text);

// Turns the references of a request (UUID, name, name of another action of the request, first
// digits of an id) into actions. Errors pile up; nothing is changed.
class ReferenceResolver {
 public:
  // `asked` is what the store was asked for so far, `found` what it had of that.
  ReferenceResolver(const State& state, const Submit& submit, const std::vector<ActionId>& ids,
                    const Lookup& asked, const std::vector<ActionPtr>& found);

  // What a reference stands for.
  struct Target {
    enum class Kind : std::uint8_t { Unresolved, New, Live, Finished } kind = Kind::Unresolved;
    ActionId id;
    ActionPtr action;  // Live, Finished
  };

  // Where in the request an action of Kind::New stands.
  std::size_t position(const ActionId& id) const { return ids_in_request_.at(id); }

  Target resolve(const std::string& reference, const std::string& pointer);
  // An id that the caller chose: an error if it is taken.
  void check_free(const ActionId& id, const std::string& pointer);
  // The parent of a derived action must be known and not have ended.
  void check_parent(const ActionId& id, const std::string& pointer);

  // What must be asked of the store before this can be decided, with what was asked already: each
  // round asks for more than the one before, so that they end.
  Lookup missing() const;
  bool needs_lookup() const {
    return !missing_.ids.empty() || !missing_.names.empty() || !missing_.prefixes.empty();
  }
  std::vector<FieldError>& errors() { return errors_; }

 private:
  Target resolve_id(const ActionId& id, const std::string& reference, const std::string& pointer);
  Target resolve_name(const std::string& name, const std::string& pointer);
  Target resolve_prefix(const std::string& reference, const std::string& pointer);
  Target ambiguous(const std::string& reference, const std::vector<ActionId>& ids,
                   const std::string& pointer);
  // Null: the store has no finished action with this id, as far as it was asked.
  ActionPtr find_finished(const ActionId& id) const;
  // True: the store has to be asked for it first.
  bool must_ask(const ActionId& id);

  const State& state_;
  const std::vector<ActionId>& ids_;
  const Lookup& asked_;
  const std::unordered_set<ActionId> asked_ids_;
  const std::unordered_set<std::string> asked_names_;
  std::unordered_set<ActionId> missing_ids_;
  std::unordered_set<std::string> missing_names_;
  std::vector<ActionPtr> found_;  // each once
  std::unordered_map<ActionId, ActionPtr> found_by_id_;
  std::unordered_multimap<std::string, std::size_t> names_in_request_;
  std::unordered_map<ActionId, std::size_t> ids_in_request_;
  Lookup missing_;
  std::vector<FieldError> errors_;
};

}  // namespace muster::core
