#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/local_request.h"
#include "base/check.h"
#include "base/json.h"

// What clients of the agent's local API send: bodies and queries. The first byte picks the reader.

namespace muster::agent {
namespace {

template <typename T>
bool accepted(const Result<T>& result) {
  MUSTER_CHECK(result || !result.error().message.empty(), "an error without a message");
  return result.has_value();
}

void check_create(std::string_view text) {
  const auto body = decode_create(text);
  if (!accepted(body)) return;
  MUSTER_CHECK(!body->kind.empty(), "an action without a kind");
  MUSTER_CHECK(body->timeout.us >= 0, "a negative timeout");
  const auto inputs = parse_json(body->inputs);
  MUSTER_CHECK(inputs && inputs->is_object(), "inputs that are no object");
}

void check_signal(std::string_view text) {
  const auto body = decode_signal(text);
  if (!accepted(body)) return;
  MUSTER_CHECK(body->signal != core::Signal::None, "a signal that is none");
}

void check_list(std::string_view text) {
  const auto query = decode_list_query(text);
  if (!accepted(query)) return;
  MUSTER_CHECK(query->limit > 0, "a list of nothing");
}

void check_logs(std::string_view text) {
  const auto query = decode_log_query(text);
  if (!accepted(query)) return;
  MUSTER_CHECK(query->limit > 0, "output of nothing");
}

}  // namespace
}  // namespace muster::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::agent;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'c':
      check_create(text);
      break;
    case 's':
      check_signal(text);
      break;
    case 'l':
      check_list(text);
      break;
    case 'o':
      check_logs(text);
      break;
    default:
      break;
  }
  return 0;
}
