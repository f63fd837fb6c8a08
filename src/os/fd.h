#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace muster::os {

// Owns a file descriptor and closes it. Move only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// The first `limit` bytes of a file; nothing if it cannot be opened or read.
std::optional<std::string> read_file_at(int directory, const char* name, std::size_t limit);

// "No such file or directory". Safe on every thread.
std::string errno_text(int error);

}  // namespace muster::os
