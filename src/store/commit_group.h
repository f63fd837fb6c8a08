#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "core/effects.h"
#include "store/store.h"

// How a group of submissions becomes one batch, and what its outcome means. Pure functions, any
// thread; the committer has the thread, a simulated controller has its own time.

namespace muster::store {

// The writes of one group of steps, in their order.
struct Submission {
  std::uint64_t ticket = 0;
  std::vector<core::Write> writes;
};

// All writes in order, but that of several writes of the same record only the last is encoded.
Batch encode_group(Term term, const std::vector<Submission>& submissions);

// The same batch may be tried again; any other error ends the writer.
bool can_be_retried(const Error& error);

}  // namespace muster::store
