#pragma once

#include <string>
#include <vector>

#include "cli/completion.h"
#include "cli/context.h"
#include "pack/shipped.h"

// Packs: those of the controller, or of folders (catalog.h).

namespace muster::cli {

// Loads every pack that the options name. Problems are printed as "file:line:column: reason", and
// the failure counts them.
Outcome<pack::LoadedPacks> load_all(Context& context, const pack::PackOptions& options);

// Prints the problems of the packs in `options.extra`, with what they need.
Outcome<ExitCode> check_packs(Context& context, const pack::PackOptions& options);
Outcome<ExitCode> list_packs(Context& context, const pack::PackOptions& options);
Outcome<ExitCode> show_pack(Context& context, const pack::PackOptions& options,
                            const std::string& name);
// Of the packs that came with the program, for completion: PACK or TYPE.
std::vector<Candidate> pack_values(std::string_view type);
// The JSON Schema of a model file.
Outcome<ExitCode> print_schema(Context& context, const pack::PackOptions& options);

}  // namespace muster::cli
