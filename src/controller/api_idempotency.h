#pragma once

#include <optional>

#include "base/result.h"
#include "core/input.h"
#include "http/server.h"

namespace muster::controller {

inline constexpr std::size_t kIdempotencyKeyMax = 255;

// The Idempotency-Key of a request whose body says all; none if it has no key. Error: InvalidValue.
Result<std::optional<core::IdempotencyKey>> idempotency_of(const http::Request& request);

// The same for a request of which the method, the path and the query say something too.
Result<std::optional<core::IdempotencyKey>> idempotency_of_whole(const http::Request& request);

}  // namespace muster::controller
