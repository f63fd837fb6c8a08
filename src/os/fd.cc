#include "os/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace muster::os {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string errno_text(int error) {
  const char* text = ::strerrordesc_np(error);
  return text != nullptr ? text : fmt::format("error {}", error);
}

std::optional<std::string> read_file_at(int directory, const char* name, std::size_t limit) {
  const UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string content;
  std::array<char, 4096> buffer;
  while (content.size() < limit) {
    const ssize_t n =
        ::read(fd.get(), buffer.data(), std::min(buffer.size(), limit - content.size()));
    if (n < 0) {
      if (errno == EINTR) continue;
      return std::nullopt;
    }
    if (n == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return content;
}

}  // namespace muster::os
