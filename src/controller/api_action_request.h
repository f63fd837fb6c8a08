#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "controller/api_body.h"
#include "core/input.h"

// The bodies that clients send about actions, decoded strictly. Everything that can be known
// without the engine's state is checked here; whether a kind, target or dependency exists is the
// engine's to say.

namespace muster::controller {

inline constexpr std::size_t kActionsPerRequestMax = 10'000;
inline constexpr std::size_t kNameCharactersMax = 200;
inline constexpr std::size_t kInputsBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kReasonCharactersMax = 2000;

struct CreateBody {
  std::vector<core::ActionRequest> actions;
  bool single = false;  // {"action": {...}} rather than {"actions": [...]}
};

// What can be read; the rest is added to `problems`. Errors: InvalidJson, JsonTooDeep,
// BodyTooLarge.
Result<CreateBody> read_create(std::string_view body, Problems& problems);
// The same, with the field errors as an error.
Result<CreateBody> decode_create(std::string_view body);

struct SignalBody {
  core::Signal signal = core::Signal::None;
  std::string reason;
  bool force = false;
};
Result<SignalBody> decode_signal(std::string_view body);

// {"action": {"status": "CANCELLED"}}, the only change that a PATCH can make.
Result<void> decode_cancel_patch(std::string_view body);

// {"reason": "..."}; an empty body is an empty reason.
Result<std::string> decode_decision(std::string_view body);

// What the engine found wrong with a request that was known to be wrong, added to that. At the same
// place the first mistake says more.
Error merge_mistakes(Problems problems, const Error& of_engine);

// The engine numbers the actions of a request; a client that sent {"action": ...} must find its
// own pointers.
Error with_client_pointers(Error error, bool single);

}  // namespace muster::controller
