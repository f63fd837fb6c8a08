#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

// Keeps a second process out of a store. The lock is on `<store>.lock`, a file beside the store
// that holds the process id of the owner and is never removed: removing it would let two processes
// lock two different files of one name. The system drops the lock when the process ends, however it
// ends.
class StoreLock {
 public:
  // StoreLocked, with the process that has it, if it is taken; also by this same process.
  static Result<StoreLock> take(const std::string& store_path);

  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&& other) noexcept;
  ~StoreLock();

 private:
  explicit StoreLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace muster::store
