#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/input.h"
#include "http/server.h"

// The bodies that clients send about the deployment model, decoded strictly. What the model says to
// them is the engine's to tell.

namespace muster::controller {

inline constexpr std::size_t kWhyCharactersMax = 2000;
inline constexpr std::size_t kModelBodyBytesMax = std::size_t{64} << 20;

struct EditBody {
  core::ModelOperations operations;
  std::string why;
};

// {"id", "type" or "inherit", "properties", "why"}, to be made in `parent`.
Result<EditBody> decode_create_item(std::string_view body, const model::Path& parent);
// {"properties": {"a": "1", "b": null}, "why"}: null takes a value away.
Result<EditBody> decode_update_item(std::string_view body, const model::Path& path);

struct ApplyBody {
  core::ApplyDeclaration apply;
  std::string why;
};
// {"at", "model", "prune", "why"}.
Result<ApplyBody> decode_apply(std::string_view body);

// {"why"}; an empty body says nothing.
Result<std::string> decode_why(std::string_view body);

// The text of an ETag; nothing if there is no such header, or it takes any. Error: InvalidValue.
Result<std::optional<std::string>> parse_model_match(const http::Request& request);

}  // namespace muster::controller
