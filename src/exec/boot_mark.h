#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::exec {

// The file `boot` beside the run directories: in which boot of the host runs were last started.
//
// Run directories are not synced, so a power cut may take away one whose run had begun. Within one
// boot a directory that is missing proves that the run never started; after a restart it proves
// nothing. The mark, which is synced, tells the two apart. It moves on only with the first run that
// is new in a boot: by then the agent has settled whatever it found from before.
class BootMark {
 public:
  // `runs` is borrowed.
  BootMark(int runs, std::string boot_id);

  // Whether runs of an earlier boot may have lost their directory.
  bool restarted() const { return restarted_; }
  // To be called before a new run is started. Writes once per boot.
  Result<void> move_on();

 private:
  const int runs_;
  const std::string boot_id_;
  bool current_ = false;
  bool restarted_ = false;
};

}  // namespace muster::exec
