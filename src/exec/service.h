#pragma once

#include <string>
#include <string_view>

#include "core/kind/inputs.h"
#include "exec/child_report.h"

namespace muster::exec {

// Where systemd is; tests put something else there.
struct SystemdPaths {
  std::string systemctl = "systemctl";
  std::string booted_mark = "/run/systemd/system";  // there exactly if systemd is the init
};

// What systemd allows in a unit name, and no leading dash, which would be an option.
bool is_unit_name(std::string_view unit);

// The kind `service`. What systemctl prints goes to the standard output of the process. Outputs:
// active_state, sub_state, main_pid. A status query succeeds whatever the state is, as long as the
// unit exists.
ChildReport run_service(const core::ServiceInputs& inputs, const SystemdPaths& systemd);

}  // namespace muster::exec
