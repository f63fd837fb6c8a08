#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "store/sqlite_store.h"
#include "store/store.h"

// What the tests of this folder share.

namespace muster::store::testing {

// A folder of its own that goes with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-store-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_whole(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The id of the n-th action of a test. The first bytes vary, so that prefixes mean something.
inline std::string id_of(std::uint64_t n) {
  const std::uint64_t mixed = (n + 1) * 0x9e3779b97f4a7c15ULL;
  return std::string(Uuid::v4(mixed, n).bytes());
}

inline ActionIndex live_index(std::uint64_t seq) {
  const auto at = static_cast<std::int64_t>(seq);
  return {.seq = seq,
          .live = true,
          .name = "name-" + std::to_string(seq),
          .target = "host-1",
          .action = "exec",
          .status = "RUNNING",
          .created_at = Timestamp{1000 + at},
          .updated_at = Timestamp{2000 + at},
          .finished_at = {}};
}

inline ActionIndex finished_index(std::uint64_t seq, Timestamp finished_at) {
  ActionIndex index = live_index(seq);
  index.live = false;
  index.status = "SUCCEEDED";
  index.finished_at = finished_at;
  return index;
}

inline RecordWrite put_action(const ActionIndex& index, std::string value) {
  return {Space::Action, id_of(index.seq), std::move(value), index};
}

inline RecordWrite put_record(Space space, std::string key, std::string value) {
  return {space, std::move(key), std::move(value), std::nullopt};
}

inline std::vector<std::string> keys_of(const std::vector<Record>& records) {
  std::vector<std::string> keys;
  for (const Record& record : records) keys.push_back(record.key);
  return keys;
}

inline std::vector<std::string> ids_of(const std::vector<std::uint64_t>& seqs) {
  std::vector<std::string> ids;
  for (const std::uint64_t seq : seqs) ids.push_back(id_of(seq));
  return ids;
}

inline std::unique_ptr<SqliteStore> open_or_throw(const std::string& path) {
  SqliteStoreOptions options;
  options.path = path;
  auto store = SqliteStore::open(options);
  if (!store) throw std::runtime_error(store.error().message);
  return std::move(*store);
}

}  // namespace muster::store::testing
