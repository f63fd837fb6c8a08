#include "pack/pack_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/quoted.h"

namespace muster::pack {
namespace {

namespace fs = std::filesystem;

// Whether `path`, after all links, stands in `folder`.
bool stands_in(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path home = fs::canonical(folder, error);
  if (error) return false;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(home.begin(), home.end(), real.begin(), real.end()).first == home.end();
}

bool is_document(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// What editors and people leave lying about.
bool is_left_over(const std::string& name) { return name.starts_with('.') || name.ends_with('~'); }

class FolderReader {
 public:
  FolderReader(PackFolder& folder, document::Problems& problems, const FolderLimits& limits)
      : folder_(folder), problems_(problems), limits_(limits) {}

  void read() {
    std::error_code error;
    if (!fs::is_directory(folder_.path, error)) {
      problems_.add({folder_.path, 0, 0}, "this is no folder that can be read");
      return;
    }
    if (!fs::exists(folder_.place_of("pack.yaml"), error)) {
      problems_.add({folder_.path, 0, 0}, "a pack has a file pack.yaml; here is none");
      return;
    }
    folder_.manifest = read_file("pack.yaml");
    if (fs::exists(folder_.place_of("ruleset.yaml"), error)) {
      folder_.ruleset = read_file("ruleset.yaml");
    }
    for (const auto& [name, files] :
         {std::pair("types", &folder_.types), std::pair("templates", &folder_.templates)}) {
      if (fs::exists(folder_.place_of(name), error)) read_folder(name, *files);
    }
  }

 private:
  void read_folder(const std::string& folder, std::vector<PackFile>& files) {
    if (!stands_in(folder_.path, folder_.place_of(folder))) {
      tell(folder, "leads out of the pack's folder");
      return;
    }
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder_.place_of(folder), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename();
      if (is_left_over(name)) continue;
      if (names.size() == limits_.files_max) {
        tell(folder, fmt::format("has more than {} files", limits_.files_max));
        return;
      }
      names.push_back(name);
    }
    if (error) {
      tell(folder, fmt::format("cannot be listed: {}", error.message()));
      return;
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string relative = fmt::format("{}/{}", folder, name);
      if (!is_document(name)) {
        tell(relative,
             fmt::format("is not read; files of {} end with .yaml, .yml or .json", folder));
      } else if (std::optional<PackFile> file = read_file(relative)) {
        files.push_back(std::move(*file));
      }
    }
  }

  std::optional<PackFile> read_file(const std::string& name) {
    const std::string path = folder_.place_of(name);
    std::error_code error;
    if (!stands_in(folder_.path, path)) {
      tell(name, "is a link that leads nowhere, or out of the pack's folder");
      return std::nullopt;
    }
    if (!fs::is_regular_file(path, error)) {
      tell(name, "is no file");
      return std::nullopt;
    }
    std::ifstream in(path, std::ios::binary);
    // One byte more than there should be tells a file that is too large, or grows meanwhile.
    const std::uintmax_t size = fs::file_size(path, error);
    std::string text(std::min<std::uintmax_t>(error ? 0 : size, limits_.file_bytes_max) + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.is_open() || in.bad()) {
      tell(name, "cannot be read");
      return std::nullopt;
    }
    const auto got = static_cast<std::size_t>(in.gcount());
    if (got > limits_.file_bytes_max) {
      tell(name, fmt::format("has more than {} bytes", limits_.file_bytes_max));
      return std::nullopt;
    }
    if (got == text.size()) {
      tell(name, "changed while it was read");
      return std::nullopt;
    }
    text.resize(got);
    total_ += text.size();
    if (total_ > limits_.total_bytes_max) {
      tell(name,
           fmt::format("the pack has more than {} bytes up to this file", limits_.total_bytes_max));
      return std::nullopt;
    }
    return PackFile{name, std::move(text)};
  }

  void tell(std::string_view name, std::string message) {
    problems_.add({folder_.place_of(name), 0, 0}, std::move(message));
  }

  PackFolder& folder_;
  document::Problems& problems_;
  const FolderLimits& limits_;
  std::size_t total_ = 0;
};

}  // namespace

PackFolder read_pack_folder(const std::string& path, document::Problems& problems,
                            const FolderLimits& limits) {
  PackFolder folder{path};
  while (folder.path.size() > 1 && folder.path.ends_with('/')) folder.path.pop_back();
  FolderReader(folder, problems, limits).read();
  return folder;
}

std::vector<std::string> find_packs(const std::string& path, document::Problems& problems) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (fs::exists(entry->path() / "pack.yaml", error)) found.push_back(entry->path());
    error.clear();
  }
  if (error) problems.add({path, 0, 0}, fmt::format("cannot be listed: {}", error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> find_program(const PackFolder& folder, const std::string& program,
                                        const model::Place& place, document::Problems& problems) {
  const fs::path relative(program);
  const bool leaves =
      relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (leaves) {
    problems.add(place, fmt::format("the plugin's program {} leaves the pack's folder; name it "
                                    "from there on, without '..'",
                                    model::quoted(program)));
    return std::nullopt;
  }
  const std::string path = folder.place_of(program);
  std::error_code error;
  if (!fs::exists(path, error)) {
    problems.add(place,
                 fmt::format("the plugin's program {} is not there", model::quoted(program)));
    return std::nullopt;
  }
  if (!stands_in(folder.path, path)) {
    problems.add(place, fmt::format("the plugin's program {} is a link that leads out of the "
                                    "pack's folder",
                                    model::quoted(program)));
    return std::nullopt;
  }
  if (!fs::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) {
    problems.add(place, fmt::format("the plugin's program {} is no executable file",
                                    model::quoted(program)));
    return std::nullopt;
  }
  return fs::canonical(path, error).string();
}

}  // namespace muster::pack
