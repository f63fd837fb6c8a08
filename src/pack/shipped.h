#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pack/loader.h"

namespace muster::pack {

// The folder of the packs that came with this program: share/muster/packs beside bin/, where it is
// installed, or packs/ of the source tree that it was built in. Error: NotFound.
Result<std::string> shipped_packs_folder();

// The folder of the Python SDK for plugins, beside those packs. Error: NotFound.
Result<std::string> python_sdk_folder();

struct PackOptions {
  std::string packs = {};               // folder of packs; empty: the shipped ones
  std::string core_pack = {};           // folder of a core pack; empty: "core" in `packs`
  std::vector<std::string> extra = {};  // folders, each a pack, besides those
};

// Every pack of the folder and the extra ones, as a server loads them. Error: NotFound, if no
// folder is named and none came with the program.
Result<LoadRequest> all_packs(const PackOptions& options);

// The given packs, and of the folder only what they need.
Result<LoadRequest> only_packs(const PackOptions& options);

}  // namespace muster::pack
