#pragma once

namespace muster::rpc {

// What gRPC needs to be told once in a process, before its first server or channel. Any thread, any
// number of times.
void set_up_grpc();

}  // namespace muster::rpc
