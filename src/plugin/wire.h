#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "base/time.h"
#include "plugin/failure.h"
#include "plugin/family.h"
#include "plugin/launcher.h"
#include "plugin/message.h"

namespace muster::plugin {

struct WireLimits {
  std::size_t message_bytes = std::size_t{16} << 20;
  std::size_t call_bytes = std::size_t{1} << 30;        // of all messages of one call
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // with all that it has started
  std::size_t log_lines = 1'000;                        // of one call
  std::size_t log_line_bytes = 4'096;
  Duration grace = Duration::seconds(2);  // between the end of its input and being killed
};

// What went wrong with the process. It is dead when this is told.
struct Trouble {
  FailureKind kind = FailureKind::Crashed;
  std::string reason;
};

// Lines to and from one plugin process, and the limits that it is held to. Reading and writing go
// on together: neither side can stop the other by not reading. Used by one thread at a time; every
// wait has a deadline. The destructor kills the process with all that it has started, and reaps it.
class Wire {
 public:
  using LogSink = std::function<void(std::string_view line)>;
  // Makes the next line to send; an empty one ends it.
  using Source = std::function<std::string()>;

  Wire(Launched launched, const WireLimits& limits, LogSink log);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // A new call: what is counted for a call begins again.
  void begin_call();
  // Reads what the plugin has written for the log by now, and tells how much of it was dropped.
  void end_call();
  // True: one more line of this call may go to the log. False: it is counted as dropped.
  bool take_log_line();
  void send(std::string line);
  // Lines that are made as the plugin reads them.
  void send(Source source);
  // The next line of the plugin. `deadline` is a time of os::monotonic_now(); `patience` is how
  // long that was, for the error. `cancelled` may be null.
  tl::expected<std::string, Trouble> receive(Duration deadline, Duration patience,
                                             const std::atomic<bool>* cancelled);
  // Kills the process for something that it sent.
  void kill();
  // Ends its input and waits for it to end by itself, then kills it. True: it ended by itself.
  bool close();
  // What it had started and still ran when close() had waited for both; it was killed then.
  const std::vector<std::string>& left_behind() const { return left_behind_; }
  bool alive() const { return launched_.pid > 0; }
  // No part of a message has come that nobody waited for.
  bool is_quiet();

 private:
  bool flush();
  bool read_output();
  bool read_errors();
  void log_errors(bool all);
  void log_line(std::string_view line);
  Trouble ended();
  std::optional<Trouble> look(const std::atomic<bool>* cancelled);
  Trouble trouble(FailureKind kind, std::string reason);
  bool wait_for_exit(Duration deadline);
  std::string reap();
  std::uint64_t resident_bytes();

  const WireLimits limits_;
  const LogSink log_;
  Launched launched_;
  LineReader lines_;
  std::deque<std::variant<std::string, Source>> outgoing_;
  std::size_t sent_ = 0;  // bytes of the first of `outgoing_`
  std::size_t call_bytes_ = 0;
  std::size_t call_log_lines_ = 0;  // also those that were dropped
  std::string error_text_;          // a line of standard error that is not whole yet
  std::string last_words_;          // the last line of standard error, for the report of a crash
  bool output_ended_ = false;
  Duration next_look_;
  Duration next_family_look_;
  os::UniqueFd memory_file_;  // /proc/PID/statm
  const Family family_;
  std::vector<std::string> left_behind_;
};

}  // namespace muster::plugin
