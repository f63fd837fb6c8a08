#include "exec/boot_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "exec/fd.h"

namespace muster::exec {
namespace {

constexpr std::size_t kMarkBytesMax = 128;

}  // namespace

BootMark::BootMark(int runs, std::string boot_id) : runs_(runs), boot_id_(std::move(boot_id)) {
  const auto text = read_file_at(runs, "boot", kMarkBytesMax);
  current_ = text && *text == boot_id_;
  restarted_ = text && !current_;
}

Result<void> BootMark::move_on() {
  if (current_) return {};
  const UniqueFd file(::openat(runs_, "boot.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid() || !write_all(file.get(), boot_id_) || ::fsync(file.get()) != 0 ||
      ::renameat(runs_, "boot.new", runs_, "boot") != 0 || ::fsync(runs_) != 0) {
    return fail(ErrorCode::IoError, "cannot write the boot mark of the run directories: {}",
                errno_text(errno));
  }
  current_ = true;
  restarted_ = false;
  return {};
}

}  // namespace muster::exec
