#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "document/map_reader.h"

namespace muster::sitefile {

inline constexpr std::size_t kTextFileMax = 100'000'000;
inline constexpr std::size_t kFolderFilesMax = 1'000;

// The content of a file. Nothing, and a report, if it cannot be read or has more than `bytes_max`
// bytes. Blocks for as long as the file takes.
std::optional<std::string> read_text_file(const std::string& path, std::size_t bytes_max,
                                          document::Problems& problems);

// The model files of a folder, by name; folders below it are not looked into. What editors leave
// lying about and files of other kinds are passed over. Reported: a folder that cannot be listed,
// has none or too many, and XML, which is only read by itself.
std::vector<std::string> list_model_files(const std::string& folder, document::Problems& problems);

}  // namespace muster::sitefile
