#include "store/sqlite_pool.h"

#include <chrono>

namespace muster::store {

void ConnectionPool::add(Database database) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::make_unique<Database>(std::move(database)));
}

void ConnectionPool::clear() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

Result<ConnectionPool::Lease> ConnectionPool::acquire(Duration timeout) {
  std::unique_lock lock(mutex_);
  if (!returned_.wait_for(lock, std::chrono::microseconds(timeout.us),
                          [this] { return !idle_.empty(); })) {
    return fail(ErrorCode::StoreUnavailable, "the store's connections are busy for {} already",
                format_duration(timeout));
  }
  auto database = std::move(idle_.back());
  idle_.pop_back();
  return Lease(*this, std::move(database));
}

void ConnectionPool::give_back(std::unique_ptr<Database> database) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(database));
  }
  returned_.notify_one();
}

}  // namespace muster::store
