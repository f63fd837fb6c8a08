#include "store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::store {
namespace {

constexpr mode_t kLockMode = 0600;

std::string owner_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return {};
  std::string owner(text.data(), static_cast<std::size_t>(size));
  return owner.substr(0, owner.find_first_not_of("0123456789"));
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockMode);
  if (descriptor < 0) {
    return fail(ErrorCode::IoError, "cannot open lock file '{}': {}", path, std::strerror(errno));
  }
  StoreLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return fail(ErrorCode::IoError, "cannot lock '{}': {}", path, std::strerror(errno));
    }
    const std::string owner = owner_of(descriptor);
    return fail(ErrorCode::StoreLocked,
                "store '{}' is in use by process {}; stop that process, or use another data folder",
                store_path, owner.empty() ? "(unknown)" : owner);
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  // The process id is for people. A disk that is too full for it must not keep the store closed.
  if (::ftruncate(descriptor, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), 0);
  }
  return lock;
}

StoreLock::StoreLock(StoreLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreLock& StoreLock::operator=(StoreLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

StoreLock::~StoreLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace muster::store
