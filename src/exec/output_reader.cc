#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "exec/process_executor.h"

namespace muster::exec {
namespace {

constexpr std::size_t kReadBytesMax = std::size_t{1} << 20;

// Reads into the chunk; answers whether that was all there is.
bool read_part(const RunDirectory& directory, std::uint64_t offset, std::size_t limit,
               OutputChunk& chunk) {
  const UniqueFd file(::openat(directory.fd(), "output", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return true;  // nothing was written
  chunk.data.resize(std::min(limit, kReadBytesMax));
  ssize_t n = 0;
  do {
    n = ::pread(file.get(), chunk.data.data(), chunk.data.size(), static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  chunk.data.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  struct stat status{};
  return ::fstat(file.get(), &status) != 0 ||
         offset + chunk.data.size() >= static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

OutputChunk ProcessExecutor::read_output(const core::ActionId& id, std::uint32_t attempt,
                                         std::uint64_t offset, std::size_t limit) {
  RunKey key{id, attempt};
  if (attempt == 0) {
    for (const RunKey& run : known_runs()) {
      if (run.id == id) key.attempt = std::max(key.attempt, run.attempt);
    }
  }
  bool live = false;
  {
    const std::lock_guard lock(mutex_);
    live = live_.contains(key);
  }
  OutputChunk chunk;
  const auto directory = RunDirectory::open(runs_.get(), key);
  if (!directory) {
    chunk.known = live;  // its runner is about to make the directory
    return chunk;
  }
  chunk.known = true;
  // Asked before reading: what is there after the end was all there when it was found.
  const bool ended = directory->has_result() || (!live && !directory->is_locked());
  const bool all = read_part(*directory, offset, limit, chunk);
  chunk.end = ended && all;
  chunk.truncated = ::faccessat(directory->fd(), "truncated", F_OK, 0) == 0;
  // Forgotten meanwhile, it may serve another run: what was read could be of that one.
  if (!directory->is_of(runs_.get(), key)) return {};
  return chunk;
}

}  // namespace muster::exec
