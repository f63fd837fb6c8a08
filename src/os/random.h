#pragma once

#include <cstdint>

namespace muster::os {

// Sixty-four bits from the kernel. Unpredictable: ids made from them cannot be guessed. Safe on
// every thread, and a forked process never repeats what its parent drew.
std::uint64_t system_random();

}  // namespace muster::os
