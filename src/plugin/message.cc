#include "plugin/message.h"

#include <limits>

#include "base/utf8.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kExcerptBytes = 200;
constexpr std::size_t kMethodBytesMax = 100;

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(ErrorCode::DecodeFailed, "not a JSON-RPC message: {}", what);
}

Result<PluginMessage> parse_response(Json& message) {
  PluginResponse response;
  const Json& id = message["id"];
  if (!id.is_number_integer()) return wrong("the id of an answer is the number of its request");
  response.id = id.get<std::int64_t>();
  const auto error = message.find("error");
  const auto result = message.find("result");
  if ((error == message.end()) == (result == message.end())) {
    return wrong("an answer has either 'result' or 'error'");
  }
  if (result != message.end()) {
    response.outcome = std::move(*result);
    return response;
  }
  const bool good = error->is_object() && error->contains("code") && error->contains("message") &&
                    (*error)["code"].is_number_integer() && (*error)["message"].is_string();
  if (!good) return wrong("'error' has a number 'code' and a text 'message'");
  const auto code = (*error)["code"].get<std::int64_t>();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  response.outcome =
      RpcError{code < -kMost || code > kMost ? kInternalError : static_cast<int>(code),
               (*error)["message"].get<std::string>()};
  return response;
}

}  // namespace

void LineReader::push(std::string_view bytes) {
  if (begin_ > 0 && (begin_ == buffer_.size() || begin_ >= std::size_t{1} << 20)) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<std::string> LineReader::next() {
  if (too_long_) return std::nullopt;
  const std::size_t end = buffer_.find('\n', scanned_);
  const std::size_t size = (end == std::string::npos ? buffer_.size() : end) - begin_;
  if (size > line_bytes_max_) {
    too_long_ = true;
    return std::nullopt;
  }
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(begin_, size);
  begin_ = end + 1;
  scanned_ = begin_;
  return line;
}

Result<PluginMessage> parse_message(std::string_view line, const JsonLimits& limits) {
  MUSTER_TRY_ASSIGN(Json message, parse_json(line, limits));
  if (!message.is_object()) return wrong("a message is one JSON object");
  const auto version = message.find("jsonrpc");
  if (version == message.end() || *version != "2.0") return wrong("'jsonrpc' must be \"2.0\"");
  const auto method = message.find("method");
  if (method == message.end()) {
    if (!message.contains("id")) return wrong("it has neither 'method' nor 'id'");
    return parse_response(message);
  }
  if (!method->is_string()) return wrong("'method' must be a text");
  const auto name = method->get<std::string>();
  if (name.size() > kMethodBytesMax) return wrong("the name of the method is too long");
  Json params = Json::object();
  if (const auto given = message.find("params"); given != message.end()) {
    if (!given->is_object()) return wrong("'params' must be an object");
    params = std::move(*given);
  }
  const auto id = message.find("id");
  if (id == message.end()) return PluginNotification{name, std::move(params)};
  if (!id->is_number_integer() && !id->is_string()) {
    return wrong("the id of a request is a whole number or a text");
  }
  return PluginRequest{std::move(*id), name, std::move(params)};
}

std::string request_line(std::int64_t id, std::string_view method, const Json& params) {
  const Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  return dump_json(message) + "\n";
}

std::string result_line(const Json& id, const Json& result) {
  return dump_json({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}) + "\n";
}

std::string error_line(const Json& id, const RpcError& error) {
  const Json told = {{"code", error.code}, {"message", error.message}};
  return dump_json({{"jsonrpc", "2.0"}, {"id", id}, {"error", told}}) + "\n";
}

std::string excerpt(std::string_view bytes) {
  const std::string text = to_utf8(utf8_front(bytes, kExcerptBytes));
  std::string shown = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  shown += bytes.size() > kExcerptBytes ? "'..." : "'";
  return shown;
}

}  // namespace muster::plugin
