#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace muster::controller {

// A few threads for the API's blocking work that must not happen where it comes up: on the
// controller's thread (reading the store, encoding a large answer) or on the timer's. The queue is
// bounded; a task that is refused is destroyed, and a responder that it held answers with a 500.
class ApiWorkers {
 public:
  using Task = std::function<void()>;

  explicit ApiWorkers(std::size_t threads, std::size_t queue_max = 10'000);
  ~ApiWorkers() { stop(); }
  ApiWorkers(const ApiWorkers&) = delete;
  ApiWorkers& operator=(const ApiWorkers&) = delete;

  // Any thread, never blocks. False: the queue is full or the workers are stopping.
  bool post(Task task);
  // Runs what is queued, then joins. Not from a worker.
  void stop();

 private:
  void run();

  const std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;  // protected by mutex_
  bool stopping_ = false;   // protected by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace muster::controller
