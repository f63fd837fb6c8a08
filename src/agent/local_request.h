#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/action/action.h"
#include "http/server.h"

// What clients of the local API send, decoded strictly: unknown fields are refused, and everything
// that is wrong is reported at once.

namespace muster::agent {

struct CreateBody {
  std::optional<core::ActionId> id;  // of the caller's choice
  std::string name;
  std::string kind;
  core::JsonText inputs = "{}";
  Duration timeout;  // zero: the default
};
// {"action": {"id", "name", "action", "inputs", "timeout"}}; inputs are checked by kind.
Result<CreateBody> decode_create(std::string_view body);

struct SignalBody {
  core::Signal signal = core::Signal::None;
  std::string reason;
};
Result<SignalBody> decode_signal(std::string_view body);

enum class ListState : std::uint8_t { All, Queue, Finished };
struct ListQuery {
  ListState state = ListState::All;
  std::size_t limit = 100;
  std::optional<core::ActionId> marker;  // the last one already seen
};
Result<ListQuery> decode_list_query(std::string_view raw);

struct LogQuery {
  std::uint32_t attempt = 0;  // 0: the newest
  std::uint64_t offset = 0;
  std::size_t limit = 256 << 10;
  bool follow = false;
};
Result<LogQuery> decode_log_query(std::string_view raw);

// The {id} of a path. NotFound if it is no UUID: no action can have it.
Result<core::ActionId> path_id(const http::Request& request);

}  // namespace muster::agent
