#include "exec/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace muster::exec {

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Result<void> write_file_atomic_at(int directory, const std::string& name, std::string_view data) {
  const std::string temporary = name + ".tmp";
  const UniqueFd fd(
      ::openat(directory, temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return fail(ErrorCode::IoError, "cannot create '{}': {}", temporary, errno_text(errno));
  }
  if (!write_all(fd.get(), data)) {
    const int error = errno;
    ::unlinkat(directory, temporary.c_str(), 0);
    return fail(ErrorCode::IoError, "cannot write '{}': {}", temporary, errno_text(error));
  }
  if (::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    return fail(ErrorCode::IoError, "cannot rename '{}' to '{}': {}", temporary, name,
                errno_text(errno));
  }
  return {};
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const bool last = end == std::string::npos;
    const std::string part = path.substr(0, end);
    if (!part.empty() && ::mkdir(part.c_str(), last ? mode : 0755U) != 0 && errno != EEXIST) {
      return fail(ErrorCode::IoError, "cannot make directory '{}': {}", part, errno_text(errno));
    }
    if (last) break;
  }
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::IoError, "'{}' is not a directory", path);
  }
  return {};
}

std::string read_boot_id() {
  std::string id =
      read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64).value_or(std::string());
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace muster::exec
