#include "controller/api_idempotency.h"

#include <fmt/format.h>

#include <algorithm>

#include "crypto/sha256.h"

namespace muster::controller {
namespace {

Result<std::optional<core::IdempotencyKey>> key_of(const http::Request& request,
                                                   std::string_view content) {
  const auto found = request.headers.find("idempotency-key");
  if (found == request.headers.end()) return std::nullopt;
  const std::string& key = found->second;
  const bool printable = std::ranges::all_of(key, [](char c) { return c >= 0x20 && c < 0x7F; });
  if (key.empty() || key.size() > kIdempotencyKeyMax || !printable) {
    return fail(ErrorCode::InvalidValue,
                "the header Idempotency-Key must have 1 to {} printable ASCII characters",
                kIdempotencyKeyMax);
  }
  // A header has no line break, so no name and key can be mistaken for another pair.
  return core::IdempotencyKey{fmt::format("{}\n{}", request.identity.name, key),
                              crypto::sha256_hex(content)};
}

}  // namespace

Result<std::optional<core::IdempotencyKey>> idempotency_of(const http::Request& request) {
  return key_of(request, request.body);
}

Result<std::optional<core::IdempotencyKey>> idempotency_of_whole(const http::Request& request) {
  return key_of(request, fmt::format("{} {}?{}\n{}", request.method, request.path, request.query,
                                     request.body));
}

}  // namespace muster::controller
