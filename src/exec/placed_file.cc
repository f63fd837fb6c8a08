#include "exec/placed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "crypto/sha256.h"
#include "exec/account.h"

namespace muster::exec {

Result<FileAttributes> read_attributes(const std::string& mode, const std::string& owner,
                                       const std::string& group) {
  FileAttributes attributes;
  char* end = nullptr;
  const unsigned long bits = std::strtoul(mode.c_str(), &end, 8);
  if (mode.empty() || *end != '\0' || bits > 07777) {
    return fail(ErrorCode::InvalidValue, "mode is '{}', it must be octal between 0 and 07777",
                mode);
  }
  attributes.mode = static_cast<mode_t>(bits);
  if (!owner.empty()) {
    MUSTER_TRY_ASSIGN(const Account account, find_user(owner));
    attributes.owner = account.uid;
  }
  if (!group.empty()) {
    MUSTER_TRY_ASSIGN(attributes.group, find_group(group));
  }
  return attributes;
}

Result<bool> apply_attributes(int fd, const FileAttributes& attributes, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return fail(ErrorCode::IoError, "cannot read the attributes of '{}': {}", path,
                errno_text(errno));
  }
  const uid_t owner = attributes.owner.value_or(status.st_uid);
  const gid_t group = attributes.group.value_or(status.st_gid);
  const bool moved = owner != status.st_uid || group != status.st_gid;
  if (moved && ::fchown(fd, owner, group) != 0) {
    return fail(ErrorCode::IoError, "cannot change the owner of '{}' to {}:{}: {}", path, owner,
                group, errno_text(errno));
  }
  // After the owner, since a change of owner clears the set-user-ID bits.
  const bool remoded = moved || (status.st_mode & 07777) != attributes.mode;
  if (remoded && ::fchmod(fd, attributes.mode) != 0) {
    return fail(ErrorCode::IoError, "cannot change the mode of '{}' to {:04o}: {}", path,
                attributes.mode, errno_text(errno));
  }
  return remoded;
}

Result<UniqueFd> open_existing(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) {
    // A symbolic link is replaced, like a file that differs.
    if (errno == ENOENT || errno == ELOOP) return UniqueFd();
    return fail(ErrorCode::IoError, "cannot open '{}': {}", path, errno_text(errno));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(ErrorCode::IoError, "'{}' is there and is not a regular file", path);
  }
  return fd;
}

Result<std::string> sha256_of_file(int fd, const std::string& path) {
  crypto::Sha256 sum;
  std::array<char, std::size_t{64} << 10> buffer;
  if (::lseek(fd, 0, SEEK_SET) != 0) {
    return fail(ErrorCode::IoError, "cannot read '{}': {}", path, errno_text(errno));
  }
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(ErrorCode::IoError, "cannot read '{}': {}", path, errno_text(errno));
    if (n == 0) return sum.hex();
    sum.update({buffer.data(), static_cast<std::size_t>(n)});
  }
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

Result<void> put_in_place(int fd, const std::string& temporary, const std::string& path) {
  if (::fsync(fd) != 0) {
    return fail(ErrorCode::IoError, "cannot sync '{}': {}", temporary, errno_text(errno));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return fail(ErrorCode::IoError, "cannot rename '{}' to '{}': {}", temporary, path,
                errno_text(errno));
  }
  const UniqueFd parent(::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid() || ::fsync(parent.get()) != 0) {
    return fail(ErrorCode::IoError, "cannot sync directory '{}': {}", parent_of(path),
                errno_text(errno));
  }
  return {};
}

}  // namespace muster::exec
