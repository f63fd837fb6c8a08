#include "exec/run_request.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace muster::exec {
namespace {

class Encoder {
 public:
  template <typename T>
  void number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void string(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    text_.append(value);
  }
  void raw(std::string_view value) { text_.append(value); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view text) : rest_(text) {}

  std::string_view raw(std::size_t size) {
    if (rest_.size() < size) {
      failed_ = true;
      return {};
    }
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  template <typename T>
  T number() {
    T value{};
    const std::string_view bytes = raw(sizeof value);
    if (!failed_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string string() { return std::string(raw(number<std::uint32_t>())); }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

union ControlBuffer {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr align;
};

// Receives exactly `size` bytes, or fails at the end of the stream.
bool receive_all(int socket, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::recv(socket, data, size, MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// The attached descriptor comes with the first byte of the length.
bool receive_length(int socket, std::uint32_t& length, UniqueFd& connection) {
  ControlBuffer control{};
  iovec part{&length, sizeof length};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    connection.reset(fd);
  }
  const auto got = static_cast<std::size_t>(n);
  return receive_all(socket, reinterpret_cast<char*>(&length) + got, sizeof length - got);
}

}  // namespace

std::string encode_run_request(const RunOrder& order) {
  const RunSpec& spec = order.spec;
  Encoder encoder;
  encoder.raw(spec.id.bytes());
  encoder.number(spec.attempt);
  encoder.number(spec.timeout.us);
  encoder.string(spec.kind);
  encoder.string(spec.inputs);
  encoder.string(spec.name);
  encoder.string(spec.requested_by);
  encoder.string(order.spare);
  return encoder.take();
}

std::optional<RunOrder> decode_run_request(std::string_view body) {
  Decoder decoder(body);
  RunOrder order;
  RunSpec& spec = order.spec;
  const std::string_view id = decoder.raw(core::ActionId::kSize);
  if (id.size() != core::ActionId::kSize) return std::nullopt;
  spec.id = core::ActionId::from_bytes(id);
  spec.attempt = decoder.number<std::uint32_t>();
  spec.timeout.us = decoder.number<std::int64_t>();
  spec.kind = decoder.string();
  spec.inputs = decoder.string();
  spec.name = decoder.string();
  spec.requested_by = decoder.string();
  order.spare = decoder.string();
  if (!decoder.complete()) return std::nullopt;
  return order;
}

Result<void> send_run_request(int socket, std::string_view body, UniqueFd connection) {
  if (body.size() > kRunRequestBytesMax) {
    return fail(ErrorCode::BodyTooLarge,
                "the action is too large to run ({} bytes), at most {} "
                "bytes are allowed",
                body.size(), kRunRequestBytesMax);
  }
  auto length = static_cast<std::uint32_t>(body.size());
  std::array<iovec, 2> parts = {iovec{&length, sizeof length},
                                iovec{const_cast<char*>(body.data()), body.size()}};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = connection.get();
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);

  std::size_t left = sizeof length + body.size();
  while (left > 0) {
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return fail(ErrorCode::Unavailable, "cannot reach the spawner: {}", errno_text(errno));
    }
    left -= static_cast<std::size_t>(n);
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    auto sent = static_cast<std::size_t>(n);
    for (iovec& part : parts) {
      const std::size_t step = std::min(sent, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + step;
      part.iov_len -= step;
      sent -= step;
    }
  }
  return {};
}

std::optional<RunRequest> receive_run_request(int socket) {
  std::uint32_t length = 0;
  RunRequest request;
  if (!receive_length(socket, length, request.connection)) return std::nullopt;
  if (length > kRunRequestBytesMax || !request.connection.valid()) return std::nullopt;
  request.body.resize(length);
  if (!receive_all(socket, request.body.data(), length)) return std::nullopt;
  return request;
}

}  // namespace muster::exec
