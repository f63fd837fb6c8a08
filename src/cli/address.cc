#include "cli/address.h"

#include <sys/stat.h>

namespace muster::cli {
namespace {

bool is_socket(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

std::string Endpoint::to_string() const {
  return unix_socket.empty() ? base_url : "unix:" + unix_socket;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto of_socket = [](std::string_view path) {
    Endpoint endpoint;
    endpoint.unix_socket = path;
    return endpoint;
  };
  if (text.starts_with("unix://"))
    text.remove_prefix(7);
  else if (text.starts_with("unix:"))
    text.remove_prefix(5);
  else if (text.starts_with("http://") && text.size() > 7) {
    Endpoint endpoint;
    endpoint.base_url = text;
    while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
    return endpoint;
  } else if (!text.starts_with('/') && !text.starts_with("./") && !text.starts_with("../")) {
    return fail(ErrorCode::InvalidValue,
                "address '{}' is not unix:/path, /path or http://host:port", text);
  }
  if (text.empty()) return fail(ErrorCode::InvalidValue, "address 'unix:' lacks the path");
  return of_socket(text);
}

Result<Endpoint> controller_endpoint(std::string_view flag, const GetEnv& env) {
  if (!flag.empty()) return parse_endpoint(flag);
  if (const auto from_env = env("MUSTER_ADDR"); from_env && !from_env->empty()) {
    Result<Endpoint> endpoint = parse_endpoint(*from_env);
    if (!endpoint) return fail(std::move(endpoint.error()).wrap("MUSTER_ADDR"));
    return endpoint;
  }
  Endpoint endpoint;
  endpoint.unix_socket = kDefaultSocket;
  if (!is_socket(endpoint.unix_socket) && is_socket(std::string(kDevSocket))) {
    endpoint.unix_socket = kDevSocket;
  }
  return endpoint;
}

}  // namespace muster::cli
