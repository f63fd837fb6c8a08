#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec/fd.h"

// What file.put and file.fetch share: checksums, mode and owner, and putting a finished file in
// place. Here, unlike in the run directories, data is synced before it becomes visible, because the
// file is the very effect of the action.

namespace muster::exec {

// What the file at a path should be besides its content.
struct FileAttributes {
  mode_t mode = 0644;
  std::optional<uid_t> owner;
  std::optional<gid_t> group;
};

Result<FileAttributes> read_attributes(const std::string& mode, const std::string& owner,
                                       const std::string& group);

// Sets what differs; answers whether anything did. `path` is for messages.
Result<bool> apply_attributes(int fd, const FileAttributes& attributes, const std::string& path);

// A regular file that may already be what is wanted. Not valid if there is none; IoError if
// something else is there.
Result<UniqueFd> open_existing(const std::string& path);
// Of the whole file, from its beginning; leaves the position at the end.
Result<std::string> sha256_of_file(int fd, const std::string& path);

std::string parent_of(const std::string& path);

// Makes the content of `fd`, which is at `temporary`, durable and visible at `path` in one step.
Result<void> put_in_place(int fd, const std::string& temporary, const std::string& path);

}  // namespace muster::exec
