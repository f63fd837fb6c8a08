#include "controller/api_workers.h"

#include <utility>

namespace muster::controller {

ApiWorkers::ApiWorkers(std::size_t threads, std::size_t queue_max) : queue_max_(queue_max) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void ApiWorkers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool ApiWorkers::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

void ApiWorkers::run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace muster::controller
