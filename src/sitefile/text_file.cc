#include "sitefile/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "os/fd.h"

namespace muster::sitefile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 20;

bool is_left_over(const std::string& name) { return name.starts_with('.') || name.ends_with('~'); }

}  // namespace

std::optional<std::string> read_text_file(const std::string& path, std::size_t bytes_max,
                                          document::Problems& problems) {
  const auto refuse = [&](std::string why) {
    problems.add({path, 0, 0}, std::move(why));
    return std::nullopt;
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return refuse("is a folder; a file is wanted here");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return refuse(fmt::format("cannot be read: {}", os::errno_text(errno)));
  // A pipe does not tell its size, and a file may grow meanwhile: the limit is on what was read.
  std::string text;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error) text.reserve(std::min<std::uintmax_t>(size, bytes_max) + kChunk);
  while (in && text.size() <= bytes_max) {
    const std::size_t had = text.size();
    text.resize(had + kChunk);
    in.read(text.data() + had, static_cast<std::streamsize>(kChunk));
    text.resize(had + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return refuse("cannot be read to its end");
  if (text.size() > bytes_max) {
    return refuse(fmt::format("has more than {} bytes, which is the most that is read", bytes_max));
  }
  return text;
}

std::vector<std::string> list_model_files(const std::string& folder, document::Problems& problems) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    const fs::path extension = entry->path().extension();
    if (is_left_over(name) || entry->is_directory(error)) continue;
    if (extension == ".xml") {
      problems.add({entry->path(), 0, 0},
                   "XML is not read as a part of a folder; name the file itself");
    }
    if (extension != ".yaml" && extension != ".yml" && extension != ".json") continue;
    if (files.size() == kFolderFilesMax) {
      problems.add({folder, 0, 0}, fmt::format("has more than {} model files", kFolderFilesMax));
      return {};
    }
    files.push_back(entry->path());
  }
  if (error) {
    problems.add({folder, 0, 0}, fmt::format("cannot be listed: {}", error.message()));
    return {};
  }
  if (files.empty()) {
    problems.add({folder, 0, 0}, "has no model file (*.yaml, *.yml, *.json)");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace muster::sitefile
