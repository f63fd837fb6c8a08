#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

// The few file operations that a store needs around SQLite. Errors: IoError, with the path and what
// the system said; NotFound where said.

namespace muster::store {

bool file_exists(const std::string& path);
// Size in bytes; 0 if there is none.
std::uint64_t file_size(const std::string& path);
// At most the first `size` bytes; nothing if it cannot be read.
std::string read_beginning(const std::string& path, std::size_t size);

// What was written into the file, or renamed in its folder, survives a power cut once these return.
Result<void> sync_file(const std::string& path);
Result<void> sync_folder_of(const std::string& path);

// Removes the file; no error if there is none.
Result<void> remove_file(const std::string& path);
// Takes the place of `to`, if it exists, in one step.
Result<void> replace_file(const std::string& from, const std::string& to);
// Conflict if `to` exists.
Result<void> move_to_new_file(const std::string& from, const std::string& to);
// A second name for the same file.
Result<void> link_file(const std::string& existing, const std::string& name);
// Copies the contents and syncs the copy. NotFound if `from` does not exist; `to` must not exist.
Result<void> copy_file(const std::string& from, const std::string& to);

}  // namespace muster::store
