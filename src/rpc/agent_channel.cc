#include "rpc/agent_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "rpc/grpc_setup.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {
namespace {

constexpr int kKeepaliveMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 15'000;

// The seam for TLS: nothing else knows how a controller is trusted.
std::shared_ptr<grpc::ChannelCredentials> make_channel_credentials() {
  return grpc::InsecureChannelCredentials();
}

}  // namespace

std::shared_ptr<grpc::Channel> make_agent_channel(const std::string& controller) {
  set_up_grpc();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kFrameAcceptedMax));
  arguments.SetMaxSendMessageSize(static_cast<int>(kFrameAcceptedMax));
  return grpc::CreateCustomChannel(controller, make_channel_credentials(), arguments);
}

}  // namespace muster::rpc
