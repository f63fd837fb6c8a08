#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/map_reader.h"

namespace muster::pack {

struct FolderLimits {
  std::size_t files_max = 500;
  std::size_t file_bytes_max = std::size_t{4} << 20;
  std::size_t total_bytes_max = std::size_t{32} << 20;
};

// A file of a pack, named from its folder on: "types/node.yaml".
struct PackFile {
  std::string name;
  std::string text;
};

// What a pack's folder says, as text.
struct PackFolder {
  std::string path;                       // as it was given; errors name files below it
  std::optional<PackFile> manifest = {};  // pack.yaml
  std::vector<PackFile> types = {};       // in the order of their names
  std::vector<PackFile> templates = {};   // likewise
  std::optional<PackFile> ruleset = {};

  std::string place_of(std::string_view name) const { return path + "/" + std::string(name); }
};

// Reads the files of a pack. Reported: a folder without pack.yaml, files that cannot be read, are
// too many or too large, symbolic links that lead out of the folder, and what stands in types/ or
// templates/ and is no YAML or JSON.
PackFolder read_pack_folder(const std::string& path, document::Problems& problems,
                            const FolderLimits& limits = {});

// The folders below `path` that have a pack.yaml, in the order of their names. A path that cannot
// be listed is reported.
std::vector<std::string> find_packs(const std::string& path, document::Problems& problems);

// The whole path of the pack's plugin, after links; nothing, and a report, unless it is a program
// in the folder.
std::optional<std::string> find_program(const PackFolder& folder, const std::string& program,
                                        const model::Place& place, document::Problems& problems);

}  // namespace muster::pack
