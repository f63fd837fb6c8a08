#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace muster::http {

class Connection;

// One server thread and its event loop. A connection lives on one loop and is only touched by its
// thread, so it needs no locks; other threads reach it by post().
//
// Responders and streams may outlive the server. They share the loop object, which by then has been
// retired: its io_context is gone and post() refuses. What they post holds connections weakly, so
// that the last owner of a connection is always its own thread.
class Loop {
 public:
  using Executor = boost::asio::io_context::executor_type;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // May throw std::system_error.
  void start_thread();
  bool in_this_thread() const { return thread_id_.load() == std::this_thread::get_id(); }

  // Runs `work` on the loop's thread, soon; false: the loop is retired, and `work` was not taken.
  template <typename Work>
  bool post(Work&& work) {
    const std::lock_guard lock(mutex_);
    if (retired_) return false;
    boost::asio::post(*io_, std::forward<Work>(work));
    return true;
  }

  // Lets the thread end once nothing is pending, waits for it, runs what was posted after that in
  // the calling thread, and gives up the io_context. REQUIRES: not called by the loop's thread.
  void retire();

  // Only for the loop's thread, and before retire() is done.
  boost::asio::io_context& io() { return *io_; }
  std::set<std::shared_ptr<Connection>>& connections() { return connections_; }

 private:
  void run();

  std::mutex mutex_;  // guards retired_, and io_ against being posted to while it goes away
  bool retired_ = false;
  std::unique_ptr<boost::asio::io_context> io_;
  std::optional<boost::asio::executor_work_guard<Executor>> work_guard_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::atomic<std::thread::id> thread_id_;
  std::thread thread_;
};

}  // namespace muster::http
