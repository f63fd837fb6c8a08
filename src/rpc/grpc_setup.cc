#include "rpc/grpc_setup.h"

#include <absl/synchronization/mutex.h>

namespace muster::rpc {

void set_up_grpc() {
  // Debian builds Abseil with its check of the order of locks, which makes every lock that gRPC
  // takes walk a graph of the whole process behind one global lock. It is meant for tests of gRPC.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace muster::rpc
