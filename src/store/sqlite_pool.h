#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sqlite.h"

namespace muster::store {

// Connections that threads borrow one at a time. Thread-safe. All leases must be gone before the
// pool is.
class ConnectionPool {
 public:
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Database> database)
        : pool_(&pool), database_(std::move(database)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (database_ != nullptr) pool_->give_back(std::move(database_));
    }

    Database& operator*() const { return *database_; }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Database> database_;
  };

  void add(Database database);
  void clear();

  // Waits while all are lent, at most `timeout`; then StoreUnavailable.
  Result<Lease> acquire(Duration timeout);

 private:
  void give_back(std::unique_ptr<Database> database);

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;  // protected by mutex_
};

}  // namespace muster::store
