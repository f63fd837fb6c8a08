#pragma once

namespace muster::rpc {

// Both ends ask for a sign of life, so that each finds out by itself when the other is gone.
inline constexpr int kKeepaliveMs = 30'000;
inline constexpr int kKeepaliveTimeoutMs = 15'000;

// What gRPC needs to be told once in a process, before its first server or channel. Any thread, any
// number of times.
void set_up_grpc();

}  // namespace muster::rpc
