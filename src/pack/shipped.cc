#include "pack/shipped.h"

#include <algorithm>
#include <filesystem>

#include "pack/pack_folder.h"

namespace muster::pack {
namespace {

namespace fs = std::filesystem;

// From a build folder up to the source tree: build/debug/muster, and a little more.
constexpr int kLevelsUp = 4;

bool has_core(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kCorePack / "pack.yaml", error);
}

struct Folder {
  std::string path;
  std::string core;
  std::vector<std::string> others;
};

Result<Folder> look(const PackOptions& options) {
  Folder folder{options.packs, options.core_pack, {}};
  if (folder.path.empty()) {
    Result<std::string> shipped = shipped_packs_folder();
    // Without a folder the packs that are named may still be all that there is to load.
    if (!shipped && options.core_pack.empty()) return fail(std::move(shipped.error()));
    folder.path = shipped.value_or("");
  }
  if (folder.path.empty()) return folder;
  document::Problems problems;
  folder.others = find_packs(folder.path, problems);
  if (!problems.empty()) {
    return fail(ErrorCode::NotFound, "{}", to_text(std::move(problems).take().front()));
  }
  const fs::path core = fs::path(folder.path) / kCorePack;
  std::erase(folder.others, core.string());
  if (folder.core.empty()) folder.core = core;
  return folder;
}

}  // namespace

Result<std::string> shipped_packs_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return fail(ErrorCode::NotFound, "this program does not know where it stands; use --packs");
  }
  const fs::path installed = program.parent_path().parent_path() / "share" / "muster" / "packs";
  if (has_core(installed)) return installed.string();
  fs::path at = program.parent_path();
  for (int level = 0; level < kLevelsUp && at.has_relative_path(); ++level) {
    at = at.parent_path();
    if (has_core(at / "packs")) return (at / "packs").string();
  }
  return fail(ErrorCode::NotFound, "no packs beside this program, in {}; use --packs",
              installed.string());
}

Result<std::string> python_sdk_folder() {
  MUSTER_TRY_ASSIGN(const std::string packs, shipped_packs_folder());
  const fs::path sdk = fs::path(packs).parent_path() / "sdk" / "python";
  std::error_code error;
  if (!fs::exists(sdk / "muster_plugin" / "__init__.py", error)) {
    return fail(ErrorCode::NotFound, "no SDK for plugins in {}", sdk.string());
  }
  return sdk.string();
}

Result<LoadRequest> all_packs(const PackOptions& options) {
  MUSTER_TRY_ASSIGN(Folder folder, look(options));
  LoadRequest request{std::move(folder.others), std::move(folder.core), {}};
  request.packs.insert(request.packs.end(), options.extra.begin(), options.extra.end());
  return request;
}

Result<LoadRequest> only_packs(const PackOptions& options) {
  MUSTER_TRY_ASSIGN(Folder folder, look(options));
  return LoadRequest{options.extra, std::move(folder.core), std::move(folder.others)};
}

}  // namespace muster::pack
