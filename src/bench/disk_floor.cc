#include "bench/disk_floor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "bench/stopwatch.h"
#include "os/fd.h"

namespace muster::bench {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{32} << 10;  // as a commit of one action
constexpr std::size_t kFileBytes = std::size_t{4} << 20;
constexpr std::size_t kSyncs = 300;

Error disk_error(std::string_view what, const std::string& path) {
  return {ErrorCode::IoError,
          fmt::format("{}: cannot be {}: {}", path, what, os::errno_text(errno))};
}

}  // namespace

Result<Samples> measure_syncs(const std::string& directory) {
  const std::string path = directory + "/disk-floor";
  const os::UniqueFd file(::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) return fail(disk_error("opened", path));
  const std::string bytes(kWriteBytes, 'x');
  const auto write_at = [&](std::size_t offset) {
    return ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes.size());
  };
  for (std::size_t offset = 0; offset < kFileBytes; offset += kWriteBytes) {
    if (!write_at(offset)) return fail(disk_error("written", path));
  }
  if (::fsync(file.get()) != 0) return fail(disk_error("synced", path));
  Samples samples;
  for (std::size_t i = 0; i < kSyncs; ++i) {
    const Stopwatch watch;
    if (!write_at(i * kWriteBytes % kFileBytes)) return fail(disk_error("written", path));
    if (::fdatasync(file.get()) != 0) return fail(disk_error("synced", path));
    samples.add(watch.elapsed());
  }
  ::unlink(path.c_str());
  return samples;
}

}  // namespace muster::bench
