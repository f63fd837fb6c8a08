#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/executor.h"
#include "exec/fd.h"

// The directory of one attempt, <runs>/<uuid>.<attempt>/:
//
//   lock       locked by the runner while it lives; names its process and the boot
//   child      names the process that does the work, which leads its own process group
//   ctl        socket on which the runner takes commands
//   output     what the child wrote, up to the limit; `truncated` is there if it wrote more
//   script     of an exec action that has one
//   result     how it ended; appears complete or not at all
//
// Nothing here is synced to disk. The directory has to survive the death of processes, for which
// the page cache is enough; what has to survive a power cut is the agent's journal. After a reboot
// the executor treats what it finds, or misses, accordingly.

namespace muster::exec {

struct RunKey {
  core::ActionId id;
  std::uint32_t attempt = 1;

  std::string name() const;  // "<uuid>.<attempt>"
  static std::optional<RunKey> parse(std::string_view name);
  auto operator<=>(const RunKey&) const = default;
};

// One process of one boot, safe against reuse of the pid.
struct ProcessRecord {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string boot_id;
};

class RunDirectory {
 public:
  // Conflict if it is there already: the attempt was started before.
  static Result<RunDirectory> create(int runs, const RunKey& key);
  static std::optional<RunDirectory> open(int runs, const RunKey& key);
  static std::vector<RunKey> list(int runs);
  static void remove(int runs, const RunKey& key);

  int fd() const { return fd_.get(); }

  // Takes the lock for as long as this object and its copies in forked processes live.
  Result<void> take_lock(const ProcessRecord& runner);
  bool is_locked() const;
  std::optional<ProcessRecord> runner() const;

  Result<void> record_child(const ProcessRecord& child) const;
  std::optional<ProcessRecord> child() const;

  // Through the directory's descriptor, so that no path is too long for a socket address.
  Result<UniqueFd> listen() const;
  Result<UniqueFd> connect() const;

  Result<void> write_result(const RunResult& result) const;
  // Nothing if there is none, or none that can be read: after a power cut a file may be empty.
  std::optional<RunResult> read_result() const;
  bool has_result() const;

 private:
  explicit RunDirectory(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  UniqueFd lock_;
};

// Nothing if the file is damaged, or names a process that is no run's: those up to 1 are not.
std::string encode_process_record(const ProcessRecord& record);
std::optional<ProcessRecord> decode_process_record(std::string_view text);

std::string encode_result(const RunResult& result);
std::optional<RunResult> decode_result(std::string_view text);

}  // namespace muster::exec
