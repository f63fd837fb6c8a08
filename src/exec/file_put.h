#pragma once

#include "core/kind/inputs.h"
#include "exec/child_report.h"

namespace muster::exec {

// The kind `file.put`: makes the file at a path have this content, mode and owner. Content that is
// already right is not written again. Outputs: sha256, bytes, changed.
ChildReport put_file(const core::FilePutInputs& inputs);

}  // namespace muster::exec
