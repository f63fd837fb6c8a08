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
#include "exec/run_file.h"

// The directory of one attempt, <runs>/<uuid>.<attempt>/:
//
//   run        what is known of the run (run_file.h); locked by the runner while it lives
//   output     what the child wrote, up to the limit; `truncated` is there if it wrote more
//   script     of an exec action that has one
//
// One file for all facts, and a control socket that is none, because making a file is the dearest
// part of a short run: where a file system has no journal, it walks over every inode that was freed
// in the last seconds.
//
// For the same reason the directory of a run that is forgotten is emptied and becomes `spare.<n>`,
// which a later run takes for its own by renaming it.
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

class RunDirectory {
 public:
  // Conflict if it is there already: the attempt was started before. Where `spare` names a
  // directory that retire() left, that one gets the name, which is as atomic as making one.
  static Result<RunDirectory> create(int runs, const RunKey& key, const std::string& spare = {});
  static std::optional<RunDirectory> open(int runs, const RunKey& key);
  static std::vector<RunKey> list(int runs);
  static void remove(int runs, const RunKey& key);
  // Empties it and keeps it under the name `spare`. False: it is as it was, or partly emptied.
  static bool retire(int runs, const RunKey& key, const std::string& spare);
  static void remove_spare(int runs, const std::string& spare);

  int fd() const { return fd_.get(); }
  // Whether this is still the directory of that run.
  bool is_of(int runs, const RunKey& key) const;

  // Takes the lock for as long as this object and its copies in forked processes live.
  Result<void> take_lock(const ProcessRecord& runner);
  bool is_locked() const;
  std::optional<ProcessRecord> runner() const;

  // REQUIRES: take_lock() succeeded, in this process or the one that forked it.
  Result<void> record_child(const ProcessRecord& child) const;
  std::optional<ProcessRecord> child() const;

  // The socket's name is the kernel's choice and stands in the file, which nobody else may read.
  // Whoever finds the name all the same is refused by the runner (is_trusted_peer), and connect()
  // takes nobody for the runner but the process that holds the lock.
  Result<UniqueFd> listen() const;
  Result<UniqueFd> connect() const;

  // By the runner, or after its death. A result that could not be written leaves no trace.
  Result<void> write_result(const RunResult& result) const;
  // Nothing if there is none, or none that can be read: after a power cut a file may be empty.
  std::optional<RunResult> read_result() const;
  bool has_result() const;

 private:
  explicit RunDirectory(UniqueFd fd) : fd_(std::move(fd)) {}
  std::string read_run() const;

  UniqueFd fd_;
  UniqueFd run_;  // the runner's; carries the lock
};

// Whether the other end of a control socket belongs to the user of this process, or to root.
bool is_trusted_peer(int socket);

}  // namespace muster::exec
