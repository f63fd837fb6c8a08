#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "store/store_test_util.h"

// What only the memory store has: faults. The rest is in store_conformance_test.cc.

namespace muster::store {
namespace {

class MemoryStoreFaults : public ::testing::Test {
 protected:
  Result<void> commit_with(CommitFault fault) {
    store_.set_fault_hook([fault](const Batch&) { return fault; });
    auto result = store_.commit({term_, {testing::put_record(Space::Meta, "k", "v")}, {}});
    store_.set_fault_hook(nullptr);
    return result;
  }
  std::optional<std::string> stored() { return store_.get(Space::Meta, "k").value(); }

  MemoryStore store_;
  Term term_ = store_.acquire_term().value();
};

TEST_F(MemoryStoreFaults, ARefusedCommitChangesNothing) {
  EXPECT_EQ(commit_with(CommitFault::Refuse).error().code, ErrorCode::StoreUnavailable);
  EXPECT_EQ(stored(), std::nullopt);
}

TEST_F(MemoryStoreFaults, ATimeoutMayOrMayNotHaveApplied) {
  EXPECT_EQ(commit_with(CommitFault::TimeoutLost).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(stored(), std::nullopt);
  EXPECT_EQ(commit_with(CommitFault::TimeoutApplied).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(stored(), "v");
}

TEST_F(MemoryStoreFaults, AFenceLastsForEver) {
  EXPECT_EQ(commit_with(CommitFault::Fence).error().code, ErrorCode::Fenced);
  EXPECT_EQ(commit_with(CommitFault::None).error().code, ErrorCode::Fenced);
  EXPECT_EQ(stored(), std::nullopt);
}

TEST_F(MemoryStoreFaults, ProbeTellsOfTheFault) {
  store_.set_fault_hook([](const Batch&) { return CommitFault::Refuse; });
  EXPECT_EQ(store_.probe().error().code, ErrorCode::StoreUnavailable);
}

}  // namespace
}  // namespace muster::store
