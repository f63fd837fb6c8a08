#pragma once

#include <pthread.h>

namespace muster::log {

// Names the calling thread, for `top -H`, profiles and core dumps. At most 15 characters.
inline void name_thread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace muster::log
