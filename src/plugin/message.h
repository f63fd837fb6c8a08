#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"

// Messages of the plugin protocol (docs/plugins.md): JSON-RPC 2.0, one message a line. Functions of
// their inputs.

namespace muster::plugin {

inline constexpr int kProtocolVersion = 1;

// Puts lines together from bytes as they come. A line that grows beyond the limit is never whole;
// the bytes of it that were kept can be shown.
class LineReader {
 public:
  explicit LineReader(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // REQUIRES: not too_long().
  void push(std::string_view bytes);
  // The next whole line, without its end.
  std::optional<std::string> next();
  // The line that comes next has more bytes than are allowed.
  bool too_long() const { return too_long_; }
  // What has come of a line that is not whole yet.
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }

 private:
  const std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the line that comes next
  std::size_t scanned_ = 0;  // before this no end of a line, from begin_ on
  bool too_long_ = false;
};

enum RpcCode : int {
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kRefused = 1,
  kOutOfMemory = 2,
  kStopped = 3,
};

struct RpcError {
  int code = 0;
  std::string message;

  bool operator==(const RpcError&) const = default;
};

// What a plugin sends.
struct PluginRequest {
  Json id;  // a number or a text
  std::string method;
  Json params = Json::object();
};
struct PluginNotification {
  std::string method;
  Json params = Json::object();
};
struct PluginResponse {
  std::int64_t id = 0;
  std::variant<Json, RpcError> outcome;
};
using PluginMessage = std::variant<PluginRequest, PluginNotification, PluginResponse>;

// Error: DecodeFailed, or what parse_json() says; the message tells what is wrong, not the line.
Result<PluginMessage> parse_message(std::string_view line, const JsonLimits& limits);

// Lines, with their end.
std::string request_line(std::int64_t id, std::string_view method, const Json& params);
std::string result_line(const Json& id, const Json& result);
std::string error_line(const Json& id, const RpcError& error);

// The first bytes of what a plugin sent, in quotes and printable, for an error.
std::string excerpt(std::string_view bytes);

}  // namespace muster::plugin
