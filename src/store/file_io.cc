#include "store/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace muster::store {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

tl::unexpected<Error> io_fail(std::string_view what, const std::string& path, int error) {
  return fail(ErrorCode::IoError, "cannot {} '{}': {}", what, path, std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

Result<void> write_all(int descriptor, const char* data, std::size_t size,
                       const std::string& path) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return io_fail("write", path, errno);
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> sync_path(const std::string& path, int flags) {
  const Descriptor descriptor(::open(path.c_str(), flags | O_CLOEXEC));
  if (!descriptor.valid()) return io_fail("open", path, errno);
  if (::fsync(descriptor.get()) != 0) return io_fail("sync", path, errno);
  return {};
}

}  // namespace

bool file_exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

std::uint64_t file_size(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

std::string read_beginning(const std::string& path, std::size_t size) {
  std::string bytes(size, '\0');
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t count =
      descriptor.valid() ? ::pread(descriptor.get(), bytes.data(), bytes.size(), 0) : 0;
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

Result<void> sync_file(const std::string& path) { return sync_path(path, O_RDONLY); }

Result<void> sync_folder_of(const std::string& path) {
  return sync_path(folder_of(path), O_RDONLY | O_DIRECTORY);
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_fail("remove", path, errno);
  return {};
}

Result<void> replace_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return io_fail(fmt::format("rename '{}' to", from), to, errno);
  }
  return sync_folder_of(to);
}

Result<void> move_to_new_file(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return fail(ErrorCode::Conflict, "file '{}' exists already", to);
    return io_fail(fmt::format("rename '{}' to", from), to, errno);
  }
  return sync_folder_of(to);
}

Result<void> link_file(const std::string& existing, const std::string& name) {
  if (::link(existing.c_str(), name.c_str()) != 0) {
    return io_fail(fmt::format("link '{}' as", existing), name, errno);
  }
  return sync_folder_of(name);
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.valid()) {
    if (errno == ENOENT) return fail(ErrorCode::NotFound, "file '{}' does not exist", from);
    return io_fail("open", from, errno);
  }
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!target.valid()) return io_fail("create", to, errno);
  std::vector<char> buffer(kCopyBytes);
  while (true) {
    const ssize_t count = ::read(source.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_fail("read", from, errno);
    if (count == 0) break;
    MUSTER_TRY(write_all(target.get(), buffer.data(), static_cast<std::size_t>(count), to));
  }
  if (::fsync(target.get()) != 0) return io_fail("sync", to, errno);
  return {};
}

}  // namespace muster::store
