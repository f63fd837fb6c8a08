#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/action/action.h"

// What Muster knows of the kinds of action that it ships: where each may run, what its inputs must
// be, what it can do. Pure data; executors are elsewhere. Agents may announce further kinds of
// their own, whose inputs only they can check.

namespace muster::core {

struct KindInfo {
  std::string_view name;
  std::string_view summary;
  bool on_engine = false;
  bool on_agent = false;
  bool resumable = false;   // engine: may be started again after a restart of the controller
  bool suspendable = true;  // engine: understands SUSPEND; agent kinds always do
};

class KindCatalog {
 public:
  static std::vector<KindInfo> all();
  static const KindInfo* find(std::string_view kind);

  // All that is wrong with `inputs`, with pointers below `pointer`. An unknown kind has no errors
  // here.
  static std::vector<FieldError> check_inputs(std::string_view kind, const Json& inputs,
                                              std::string_view pointer);
};

}  // namespace muster::core
