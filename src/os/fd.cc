#include "os/fd.h"

#include <fmt/format.h>
#include <unistd.h>

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

}  // namespace muster::os
