#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <string_view>

// Streams carry bytes as gRPC sees them; wire_codec gives them their meaning. So a frame that does
// not decode ends the stream with a reason of ours instead of a bare failure of gRPC's.

namespace muster::rpc {

inline grpc::ByteBuffer to_buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

// The whole content in one piece; copied only where gRPC received it in several.
class BufferView {
 public:
  explicit BufferView(const grpc::ByteBuffer& buffer) {
    if (!buffer.TrySingleSlice(&slice_).ok()) valid_ = buffer.DumpToSingleSlice(&slice_).ok();
  }
  std::string_view bytes() const {
    if (!valid_) return {};
    return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()};
  }

 private:
  grpc::Slice slice_;
  bool valid_ = true;
};

}  // namespace muster::rpc
