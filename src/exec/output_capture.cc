#include "exec/output_capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace muster::exec {
namespace {

constexpr std::size_t kReadsMax = 32;

}  // namespace

OutputCapture::OutputCapture(UniqueFd pipe, int run_directory, std::uint64_t limit)
    : pipe_(std::move(pipe)), run_directory_(run_directory), limit_(limit) {}

bool OutputCapture::read_available() {
  static std::array<char, std::size_t{64} << 10> buffer;
  bool any = false;
  for (std::size_t reads = 0; reads < kReadsMax && pipe_.valid();) {
    const ssize_t n = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      pipe_.reset();
      break;
    }
    keep({buffer.data(), static_cast<std::size_t>(n)});
    any = true;
    ++reads;
  }
  return any;
}

void OutputCapture::keep(std::string_view data) {
  bytes_ += data.size();
  if (data.size() >= kOutputTailBytes) {
    tail_.assign(data.substr(data.size() - kOutputTailBytes));
  } else {
    tail_.append(data);
    if (tail_.size() > 2 * kOutputTailBytes) tail_.erase(0, tail_.size() - kOutputTailBytes);
  }
  if (truncated_) return;
  // Opened with the first byte: most actions of a large fleet write nothing.
  if (!file_.valid()) {
    file_.reset(::openat(run_directory_, "output", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  const std::uint64_t room = limit_ - kept_;
  const std::string_view part = data.substr(0, std::min<std::uint64_t>(room, data.size()));
  if (!file_.valid() || !write_all(file_.get(), part)) {
    mark_truncated();
    return;
  }
  kept_ += part.size();
  if (part.size() < data.size()) mark_truncated();
}

void OutputCapture::mark_truncated() {
  truncated_ = true;
  const UniqueFd mark(::openat(run_directory_, "truncated", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void OutputCapture::discard() {
  if (!file_.valid() || ::ftruncate(file_.get(), 0) != 0) return;
  mark_truncated();
}

std::string OutputCapture::tail() const {
  std::string_view tail = tail_;
  if (tail.size() > kOutputTailBytes) tail.remove_prefix(tail.size() - kOutputTailBytes);
  if (bytes_ > tail.size()) {
    // At most three bytes can belong to a character whose start was cut off.
    for (int i = 0; i < 3 && !tail.empty() && (tail.front() & 0xC0) == 0x80; ++i) {
      tail.remove_prefix(1);
    }
  }
  return std::string(tail);
}

}  // namespace muster::exec
