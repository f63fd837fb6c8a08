#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace muster::rpc {

// The channel of one dial of an agent, with a connection of its own: gRPC's back-off, its sharing
// of connections and its retries would all come between the agent and the controller that it means
// to dial now. `controller` is an address like 127.0.0.1:8441. It must not be destroyed on a thread
// of gRPC's.
std::shared_ptr<grpc::Channel> make_agent_channel(const std::string& controller);

}  // namespace muster::rpc
