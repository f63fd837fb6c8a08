#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

// Small wrappers of system calls that every process of this folder uses. All are safe in a forked
// single-threaded process; none keeps state.

namespace muster::exec {

using os::errno_text;
using os::read_file_at;
using os::UniqueFd;

// False leaves the reason in errno. Goes on after interruptions and short writes.
bool write_all(int fd, std::string_view data);

// Replaces `name` in one step, so that a reader sees all of the old content or all of the new.
Result<void> write_file_atomic_at(int directory, const std::string& name, std::string_view data);

// Makes the directory and its parents; parents get 0755, the last one `mode`. One that is there
// stays as it is.
Result<void> make_directories(const std::string& path, unsigned mode);

// The identity of this boot of the kernel; empty where /proc is not there.
std::string read_boot_id();

}  // namespace muster::exec
