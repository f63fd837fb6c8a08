#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "http/server.h"
#include "store/store.h"

namespace muster::controller {

// Sends an online copy of the store: written to a temporary file, then streamed no faster than the
// client reads, then deleted. One at a time, on a thread of its own, because both parts may take
// long.
class BackupSender {
 public:
  // `store` must outlive the sender; `directory` is where the temporary file goes.
  BackupSender(store::Store& store, std::string directory);
  ~BackupSender();  // cuts what is being sent

  // Called on the sender's thread: with the stream's head, once the copy is complete and its
  // SHA-256 is known, or with why there is none.
  struct Ready {
    std::string sha256;
    std::uint64_t bytes = 0;
  };
  using Open = std::function<std::shared_ptr<http::Stream>(const Ready&)>;
  using Failed = std::function<void(const Error&)>;
  // Any thread. Error: Overloaded, if a backup is being sent already.
  Result<void> start(Open open, Failed failed);

 private:
  void run(const Open& open, const Failed& failed);
  bool send_file(const std::string& path, http::Stream& stream);
  bool wait_for_room(http::Stream& stream);

  store::Store& store_;
  const std::string directory_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool busy_ = false;      // protected by mutex_
  bool stopping_ = false;  // protected by mutex_
  std::thread thread_;     // protected by mutex_
};

}  // namespace muster::controller
