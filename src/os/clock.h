#pragma once

#include "base/time.h"

// The clocks of the machine. Code that decides takes the time as an input; only what runs a
// process asks here. Safe on every thread and in a forked process.

namespace muster::os {

// What a calendar shows. Jumps when somebody sets it.
Timestamp system_now();

// Since an arbitrary point; never jumps. For deadlines and for how long something took.
Duration monotonic_now();

}  // namespace muster::os
