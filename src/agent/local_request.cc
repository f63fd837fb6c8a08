#include "agent/local_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/field_errors.h"
#include "base/json.h"
#include "core/kind/catalog.h"
#include "core/kind/field_reader.h"
#include "http/request_checks.h"
#include "http/router.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNameBytesMax = 800;
constexpr std::size_t kReasonBytesMax = 8000;
constexpr std::size_t kInputsBytesMax = std::size_t{1} << 20;
constexpr std::size_t kListMax = 10'000;
constexpr std::size_t kLogMax = std::size_t{1} << 20;
constexpr Duration kTimeoutMax = Duration::days(3650);

// Names are shown in tables and logs, and stand in the controller's paths.
std::optional<std::string> name_problem(std::string_view text) {
  const bool control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control) return "must not have control characters";
  if (text.find('/') != std::string_view::npos) {
    return "must not contain '/', which separates the parts of a path; use '-' or '.' instead";
  }
  return std::nullopt;
}

std::optional<core::ActionId> read_id(core::FieldReader& reader) {
  const auto text = reader.text("id", {.bytes_max = 64});
  if (!text) return std::nullopt;
  const auto id = Uuid::parse(*text);
  if (!id) {
    reader.invalid("id", fmt::format("id: {}", id.error().message));
    return std::nullopt;
  }
  if (id->is_nil()) {
    reader.invalid("id", "id must not be the nil UUID");
    return std::nullopt;
  }
  return *id;
}

void read_inputs(core::FieldReader& reader, const Json& action, CreateBody& decoded,
                 std::vector<FieldError>& errors) {
  const bool given = reader.has("inputs");
  const Json inputs = given ? action.at("inputs") : Json::object();
  if (!inputs.is_object()) {
    reader.invalid("inputs", "inputs must be an object");
    return;
  }
  decoded.inputs = dump_json(inputs);
  if (decoded.inputs.size() > kInputsBytesMax) {
    reader.invalid("inputs", fmt::format("inputs has {} bytes, at most {} are allowed",
                                         decoded.inputs.size(), kInputsBytesMax));
    return;
  }
  if (decoded.kind.empty()) return;
  auto wrong = core::KindCatalog::check_inputs(decoded.kind, inputs, "/action/inputs");
  errors.insert(errors.end(), std::make_move_iterator(wrong.begin()),
                std::make_move_iterator(wrong.end()));
}

}  // namespace

Result<CreateBody> decode_create(std::string_view body) {
  MUSTER_TRY_ASSIGN(const Json json, parse_json(body));
  std::vector<FieldError> errors;
  core::FieldReader outer(json, "", errors);
  CreateBody decoded;
  if (json.is_object() && !outer.has("action")) outer.require("action");
  if (json.is_object() && json.contains("action")) {
    const Json& action = json.at("action");
    core::FieldReader reader(action, "/action", errors);
    decoded.id = read_id(reader);
    decoded.name =
        reader.text("name", {.bytes_max = kNameBytesMax}, name_problem).value_or("");
    if (action.is_object()) {
      reader.require("action");
      decoded.kind = reader.text("action", {.bytes_max = kNameBytesMax}).value_or("");
      read_inputs(reader, action, decoded, errors);
    }
    decoded.timeout = reader.duration("timeout", Duration{}, kTimeoutMax).value_or(Duration{});
    reader.finish();
  }
  outer.finish();
  if (!errors.empty()) return fail(gather(std::move(errors)));
  return decoded;
}

Result<SignalBody> decode_signal(std::string_view body) {
  MUSTER_TRY_ASSIGN(const Json json, parse_json(body));
  std::vector<FieldError> errors;
  core::FieldReader reader(json, "", errors);
  SignalBody decoded;
  if (json.is_object()) reader.require("signal");
  const auto word = reader.text("signal", {.bytes_max = 64});
  if (word) {
    std::string upper(*word);
    std::ranges::transform(upper, upper.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto signal = core::parse_signal(upper);
    if (!signal) {
      reader.invalid("signal", fmt::format("signal is {}, it must be CANCEL, SUSPEND or RESUME",
                                           in_quotes(*word)));
    }
    decoded.signal = signal.value_or(core::Signal::None);
  }
  decoded.reason =
      reader.text("reason", {.bytes_max = kReasonBytesMax, .may_be_empty = true}).value_or("");
  reader.finish();
  if (!errors.empty()) return fail(gather(std::move(errors)));
  return decoded;
}

Result<ListQuery> decode_list_query(std::string_view raw) {
  MUSTER_TRY_ASSIGN(const auto query, http::Query::parse(raw, {"limit", "marker", "state"}));
  ListQuery decoded;
  MUSTER_TRY_ASSIGN(const auto limit, query_number(query, "limit", 1, kListMax));
  decoded.limit = limit.value_or(decoded.limit);
  if (query.has("state")) {
    const std::string state = query.get("state");
    if (state != "queue" && state != "finished") {
      return fail(ErrorCode::InvalidValue, "state is {}, it must be queue or finished",
                  in_quotes(state));
    }
    decoded.state = state == "queue" ? ListState::Queue : ListState::Finished;
  }
  if (query.has("marker")) {
    const auto id = Uuid::parse(query.get("marker"));
    if (!id) {
      return fail(ErrorCode::InvalidMarker, "marker {} is not the id of an action",
                  in_quotes(query.get("marker")));
    }
    decoded.marker = *id;
  }
  return decoded;
}

Result<LogQuery> decode_log_query(std::string_view raw) {
  MUSTER_TRY_ASSIGN(const auto query,
                    http::Query::parse(raw, {"attempt", "follow", "limit", "offset"}));
  LogQuery decoded;
  constexpr std::uint64_t kOffsetMax = std::numeric_limits<std::int64_t>::max() / 2;
  MUSTER_TRY_ASSIGN(const auto attempt, query_number(query, "attempt", 1, UINT32_MAX));
  MUSTER_TRY_ASSIGN(const auto offset, query_number(query, "offset", 0, kOffsetMax));
  MUSTER_TRY_ASSIGN(const auto limit, query_number(query, "limit", 1, kLogMax));
  MUSTER_TRY_ASSIGN(decoded.follow, query_flag(query, "follow"));
  decoded.attempt = static_cast<std::uint32_t>(attempt.value_or(decoded.attempt));
  decoded.offset = offset.value_or(decoded.offset);
  decoded.limit = limit.value_or(decoded.limit);
  return decoded;
}

Result<core::ActionId> path_id(const http::Request& request) {
  const auto found = request.path_params.find("id");
  const std::string text = found == request.path_params.end() ? "" : found->second;
  const auto id = Uuid::parse(text);
  if (!id) {
    return fail(ErrorCode::NotFound, "no action {}, an action is named by its UUID here",
                in_quotes(text));
  }
  return *id;
}

}  // namespace muster::agent
