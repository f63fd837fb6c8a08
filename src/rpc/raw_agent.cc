#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include "rpc/grpc_bytes.h"
#include "rpc/link_test_support.h"

namespace muster::rpc::testing {

// One operation at a time, each waited for: a test wants order, not speed.
struct RawAgent::Stream {
  std::shared_ptr<grpc::Channel> channel;
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;

  bool wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  }
};

RawAgent::RawAgent(std::uint16_t port) : stream_(std::make_unique<Stream>()) {
  stream_->channel = grpc::CreateChannel(loopback(port), grpc::InsecureChannelCredentials());
  stream_->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  grpc::GenericStub stub(stream_->channel);
  stream_->call =
      stub.PrepareCall(&stream_->context, "/muster.agent.v1.AgentLink/Connect", &stream_->queue);
  stream_->call->StartCall(nullptr);
  stream_->wait();
}

RawAgent::~RawAgent() {
  stream_->context.TryCancel();
  stream_->call.reset();
  stream_->queue.Shutdown();
  while (stream_->wait()) {
  }
}

bool RawAgent::write(const std::string& frame) {
  stream_->call->Write(to_buffer(frame), nullptr);
  return stream_->wait();
}

std::string RawAgent::wait_end() {
  grpc::ByteBuffer buffer;
  do {
    stream_->call->Read(&buffer, nullptr);
  } while (stream_->wait());
  grpc::Status status;
  stream_->call->Finish(&status, nullptr);
  stream_->wait();
  return status.error_message();
}

}  // namespace muster::rpc::testing
