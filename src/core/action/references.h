#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/state.h"

namespace muster::core {

// Turns the references of a request (UUID, name, name of another action of the request) into
// actions. Errors pile up; nothing is changed.
class ReferenceResolver {
 public:
  // `found` is what the store had for an earlier Lookup; null: it has not been asked yet.
  ReferenceResolver(const State& state, const Submit& submit, const std::vector<ActionId>& ids,
                    const std::vector<ActionPtr>* found);

  // What a reference stands for.
  struct Target {
    enum class Kind : std::uint8_t { Unresolved, New, Live, Finished } kind = Kind::Unresolved;
    ActionId id;
    ActionPtr action;  // Live, Finished
  };

  Target resolve(const std::string& reference, const std::string& pointer);
  // An id that the caller chose: an error if it is taken.
  void check_free(const ActionId& id, const std::string& pointer);
  // The parent of a derived action must be known.
  void check_parent(const ActionId& id, const std::string& pointer);

  // What must be asked of the store before this can be decided.
  const Lookup& missing() const { return missing_; }
  bool needs_lookup() const { return !missing_.ids.empty() || !missing_.names.empty(); }
  std::vector<FieldError>& errors() { return errors_; }

 private:
  Target resolve_name(const std::string& name, const std::string& pointer);
  ActionPtr find_finished(const ActionId& id) const;

  const State& state_;
  const std::vector<ActionId>& ids_;
  const std::vector<ActionPtr>* found_;
  std::unordered_multimap<std::string, std::size_t> names_in_request_;
  std::unordered_map<ActionId, std::size_t> ids_in_request_;
  Lookup missing_;
  std::vector<FieldError> errors_;
};

}  // namespace muster::core
