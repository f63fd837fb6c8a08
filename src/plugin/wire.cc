#include "plugin/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/utf8.h"
#include "os/clock.h"

namespace muster::plugin {
namespace {

// How often a waiting host looks at the plugin's memory, and whether it is still wanted.
constexpr Duration kLookEvery = Duration::millis(50);
// The same for what it has started, which takes a look at every process of the machine.
constexpr Duration kFamilyLookEvery = Duration::millis(200);
// At the end of a call, standard error is read as far as a pipe can hold.
constexpr int kLastReads = 16;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

int poll_ms(Duration span) {
  return static_cast<int>(std::clamp<std::int64_t>((span.us + 999) / 1000, 0, 60'000));
}

std::string exit_words(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigdescr_np(WTERMSIG(status));
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       name == nullptr ? "unknown" : name);
  }
  return fmt::format("ended with exit status {} in the middle of the call", WEXITSTATUS(status));
}

}  // namespace

Wire::Wire(Launched launched, const WireLimits& limits, LogSink log)
    : limits_(limits),
      log_(std::move(log)),
      launched_(std::move(launched)),
      lines_(limits.message_bytes),
      family_(launched_.pid, launched_.mark) {
  const std::string path = fmt::format("/proc/{}/statm", launched_.pid);
  memory_file_ = os::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

Wire::~Wire() { kill(); }

void Wire::begin_call() {
  call_bytes_ = 0;
  call_log_lines_ = 0;
  last_words_.clear();
  // Most calls are over before the first of these looks.
  next_family_look_ = os::monotonic_now() + kFamilyLookEvery;
}

void Wire::end_call() {
  for (int i = 0; i < kLastReads && launched_.errors.valid() && read_errors(); ++i) {
  }
  if (call_log_lines_ > limits_.log_lines) {
    const std::size_t dropped = call_log_lines_ - limits_.log_lines;
    log_(fmt::format("{} further line{} of this call {} dropped", dropped, dropped == 1 ? "" : "s",
                     dropped == 1 ? "was" : "were"));
  }
}

bool Wire::take_log_line() { return ++call_log_lines_ <= limits_.log_lines; }

void Wire::send(std::string line) { outgoing_.emplace_back(std::move(line)); }

void Wire::send(Source source) { outgoing_.emplace_back(std::move(source)); }

// False: the plugin does not read any more.
bool Wire::flush() {
  while (!outgoing_.empty()) {
    if (auto* source = std::get_if<Source>(&outgoing_.front())) {
      std::string line = (*source)();
      if (line.empty()) {
        outgoing_.pop_front();
      } else {
        outgoing_.emplace_front(std::move(line));
      }
      continue;
    }
    const auto& line = std::get<std::string>(outgoing_.front());
    const ssize_t wrote = ::send(launched_.input.get(), line.data() + sent_, line.size() - sent_,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(wrote);
    if (sent_ < line.size()) return true;
    outgoing_.pop_front();
    sent_ = 0;
  }
  return true;
}

// False: nothing more comes.
bool Wire::read_output() {
  static thread_local std::array<char, kReadBytes> buffer;
  const ssize_t got = ::read(launched_.output.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  lines_.push({buffer.data(), static_cast<std::size_t>(got)});
  call_bytes_ += static_cast<std::size_t>(got);
  return true;
}

// False: there is nothing to read now.
bool Wire::read_errors() {
  std::array<char, 16384> buffer{};
  // A plugin that writes without end is read once a round, so that it cannot keep us here.
  const ssize_t got = ::read(launched_.errors.get(), buffer.data(), buffer.size());
  if (got == 0) launched_.errors.reset();
  if (got <= 0) return false;
  error_text_.append(buffer.data(), static_cast<std::size_t>(got));
  log_errors(false);
  return true;
}

void Wire::log_errors(bool all) {
  std::size_t from = 0;
  for (std::size_t end = error_text_.find('\n'); end != std::string::npos;
       end = error_text_.find('\n', from)) {
    log_line(std::string_view(error_text_).substr(from, end - from));
    from = end + 1;
  }
  error_text_.erase(0, from);
  if (!error_text_.empty() && (all || error_text_.size() > limits_.log_line_bytes)) {
    log_line(error_text_);
    error_text_.clear();
  }
}

void Wire::log_line(std::string_view line) {
  if (line.empty()) return;
  const std::string text = to_utf8(utf8_front(line, limits_.log_line_bytes));
  last_words_ = text;
  if (take_log_line()) log_(text);
}

std::uint64_t Wire::resident_bytes() {
  std::array<char, 128> text{};
  const ssize_t got = ::pread(memory_file_.get(), text.data(), text.size(), 0);
  if (got <= 0) return 0;
  // "size resident shared ...", in pages.
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  const std::size_t space = line.find(' ');
  std::uint64_t pages = 0;
  if (space != std::string_view::npos) {
    std::from_chars(line.data() + space + 1, line.data() + line.size(), pages);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Trouble Wire::trouble(FailureKind kind, std::string reason) {
  kill();
  return {kind, std::move(reason)};
}

// Its output has ended: it has ended, or is about to, or does not want to talk any more.
Trouble Wire::ended() {
  if (!wait_for_exit(os::monotonic_now() + limits_.grace)) {
    return trouble(FailureKind::Crashed, "closed its output in the middle of the call");
  }
  if (launched_.errors.valid()) read_errors();
  log_errors(true);
  std::string words = reap();
  if (!last_words_.empty()) words += fmt::format("; its last words: {}", excerpt(last_words_));
  return {FailureKind::Crashed, std::move(words)};
}

// What has to be looked at while nothing happens.
std::optional<Trouble> Wire::look(const std::atomic<bool>* cancelled) {
  if (resident_bytes() > limits_.memory_bytes) {
    return trouble(FailureKind::OutOfMemory,
                   fmt::format("used more than {} of memory", mebibytes(limits_.memory_bytes)));
  }
  if (const Duration now = os::monotonic_now(); now >= next_family_look_) {
    next_family_look_ = now + kFamilyLookEvery;
    // Counting what is shared only once takes long, and is only needed where it could matter.
    if (family_.resident_bytes(false) > limits_.memory_bytes &&
        family_.resident_bytes(true) > limits_.memory_bytes) {
      return trouble(FailureKind::OutOfMemory,
                     fmt::format("used more than {} of memory together with the processes that it "
                                 "has started",
                                 mebibytes(limits_.memory_bytes)));
    }
  }
  if (cancelled != nullptr && cancelled->load()) {
    return trouble(FailureKind::Cancelled, "was stopped: nobody waits for it any more");
  }
  return std::nullopt;
}

tl::expected<std::string, Trouble> Wire::receive(Duration deadline, Duration patience,
                                                 const std::atomic<bool>* cancelled) {
  if (!alive()) return tl::unexpected(Trouble{FailureKind::Crashed, "has ended"});
  while (true) {
    // Before a line is given out, so that a plugin that never stops talking has limits, too.
    const Duration now = os::monotonic_now();
    if (now >= deadline) {
      return tl::unexpected(trouble(FailureKind::TimedOut, fmt::format("did not answer within {}",
                                                                       format_duration(patience))));
    }
    if (now >= next_look_) {
      next_look_ = now + kLookEvery;
      if (std::optional<Trouble> found = look(cancelled)) return tl::unexpected(std::move(*found));
    }
    if (call_bytes_ > limits_.call_bytes) {
      return tl::unexpected(
          trouble(FailureKind::Flooded,
                  fmt::format("sent more than {} in one call", mebibytes(limits_.call_bytes))));
    }
    if (std::optional<std::string> line = lines_.next()) return std::move(*line);
    if (lines_.too_long()) {
      const std::string shown = excerpt(lines_.rest());
      return tl::unexpected(
          trouble(FailureKind::Flooded, fmt::format("sent a message of more than {}: {}",
                                                    mebibytes(limits_.message_bytes), shown)));
    }
    if (output_ended_) return tl::unexpected(ended());
    const bool sending = !outgoing_.empty();
    std::array<pollfd, 4> waits = {{{launched_.output.get(), POLLIN, 0},
                                    {launched_.errors.get(), POLLIN, 0},
                                    {launched_.handle.get(), POLLIN, 0},
                                    {sending ? launched_.input.get() : -1, POLLOUT, 0}}};
    if (::poll(waits.data(), waits.size(), poll_ms(std::min(deadline, next_look_) - now)) <= 0) {
      continue;
    }
    if (waits[1].revents != 0) read_errors();
    if (waits[3].revents != 0 && !flush()) outgoing_.clear();
    if (waits[0].revents != 0) {
      output_ended_ = !read_output();
    } else if (waits[2].revents != 0) {
      // It has ended, and everything that it wrote was read; something else may hold its output.
      output_ended_ = true;
    }
  }
}

bool Wire::wait_for_exit(Duration deadline) {
  while (true) {
    const Duration left = deadline - os::monotonic_now();
    if (left.us <= 0) return false;
    pollfd wait{launched_.handle.get(), POLLIN, 0};
    if (::poll(&wait, 1, poll_ms(left)) > 0) return true;
  }
}

// REQUIRES: it has ended, or is sure to.
std::string Wire::reap() {
  const pid_t pid = std::exchange(launched_.pid, -1);
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may have left its group
  // What it has started must not outlive it. Its own number is not free before it is reaped, so
  // that nobody else can be taken for a relative.
  family_.kill_relatives();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  outgoing_.clear();
  launched_.input.reset();
  launched_.output.reset();
  launched_.errors.reset();
  return exit_words(status);
}

void Wire::kill() {
  if (alive()) reap();
}

bool Wire::close() {
  if (!alive()) return true;
  outgoing_.clear();
  launched_.input.reset();
  const Duration deadline = os::monotonic_now() + limits_.grace;
  const bool ended = wait_for_exit(deadline);
  if (ended) {
    for (const Relative& relative : family_.wait_for_end(deadline)) {
      left_behind_.push_back(fmt::format("{} ({})", relative.name, relative.pid));
    }
  }
  if (launched_.errors.valid()) read_errors();
  log_errors(true);
  kill();
  return ended;
}

bool Wire::is_quiet() {
  if (!alive() || !outgoing_.empty() || !lines_.rest().empty()) return false;
  pollfd wait{launched_.output.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 0;
}

}  // namespace muster::plugin
