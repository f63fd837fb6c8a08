#pragma once

#include <string>

#include "core/kind/inputs.h"
#include "exec/child_report.h"

namespace muster::exec {

// Where an unfinished download is kept. The checksum is in the name, so that a later attempt at the
// same file goes on with it and one at another file does not.
std::string partial_path(const core::FileFetchInputs& inputs);

// The kind `file.fetch`: makes the file at a path be the one that the URL serves and the checksum
// names. A file that already has the checksum is not fetched; an interrupted download goes on where
// it stopped, in this attempt or the next. Interruptions and answers that say "later" give RETRY.
// Outputs: sha256, bytes, changed, resumed_from.
ChildReport fetch_file(const core::FileFetchInputs& inputs);

}  // namespace muster::exec
