#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "controller/api_action_list.h"
#include "controller/api_action_request.h"

// The query of a list and the small bodies about one action. The first byte picks the reader.

namespace muster::controller {
namespace {

void check_list(std::string_view raw) {
  const auto query = decode_action_query(raw);
  if (!query) {
    MUSTER_CHECK(!query.error().message.empty(), "an error without a message");
    return;
  }
  MUSTER_CHECK(query->limit > 0 && query->limit <= kListLimitMax, "a limit of {}", query->limit);
}

void check_signal(std::string_view body) {
  const auto signal = decode_signal(body);
  MUSTER_CHECK(signal || !signal.error().message.empty(), "an error without a message");
  MUSTER_CHECK(!signal || signal->signal != core::Signal::None, "a signal that is none");
}

void check_patch(std::string_view body) {
  const auto patch = decode_cancel_patch(body);
  MUSTER_CHECK(patch || !patch.error().message.empty(), "an error without a message");
}

void check_decision(std::string_view body) {
  const auto reason = decode_decision(body);
  MUSTER_CHECK(reason || !reason.error().message.empty(), "an error without a message");
  MUSTER_CHECK(!reason || reason->size() <= 4 * kReasonCharactersMax, "a reason of {} bytes",
               reason->size());
}

}  // namespace
}  // namespace muster::controller

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::controller;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'l':
      check_list(text);
      break;
    case 's':
      check_signal(text);
      break;
    case 'p':
      check_patch(text);
      break;
    case 'd':
      check_decision(text);
      break;
    default:
      break;
  }
  return 0;
}
