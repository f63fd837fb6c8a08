#include "cli/failure.h"

#include <array>

#include "base/json.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kQuotedBodyMax = 200;

ExitCode exit_code_of_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidRequest:
    case ErrorCode::InvalidJson:
    case ErrorCode::JsonTooDeep:
    case ErrorCode::InvalidValue:
    case ErrorCode::UnknownField:
    case ErrorCode::MissingField:
      return ExitCode::Usage;
    case ErrorCode::Unavailable:
    case ErrorCode::Timeout:
      return ExitCode::Unreachable;
    case ErrorCode::Forbidden:
      return ExitCode::Forbidden;
    case ErrorCode::Conflict:
    case ErrorCode::RevisionMismatch:
      return ExitCode::Conflict;
    default:
      return ExitCode::Error;
  }
}

struct Hint {
  std::string_view code;
  std::string_view text;
};

constexpr std::array<Hint, 19> kHints = {{
    {"unknown_target", "`muster nodes list` shows the agents that the controller knows"},
    {"unknown_kind", "`muster kinds` shows the kinds of action"},
    {"unknown_dependency", "`muster actions list` shows the actions that exist"},
    {"not_found",
     "`muster actions list`, `muster nodes list`, `muster plans list` and `muster model history`\n"
     "show what exists"},
    {"invalid_location", "`muster model tree` shows the items that exist"},
    {"invalid_type", "`muster types list` shows the item types"},
    {"child_not_allowed", "`muster types show TYPE` tells what may stand below an item"},
    {"property_not_allowed", "`muster types show TYPE` tells the properties of an item"},
    {"ambiguous", "use more digits of the id, or the whole id"},
    {"invalid_marker", "that page is gone; list again without --marker"},
    {"action_final", "`muster actions show` tells how it ended; submit a new action instead"},
    {"revision_mismatch", "somebody changed it meanwhile; look at it again, then repeat"},
    {"idempotency_mismatch", "use another --idempotency-key for another request"},
    {"self_approval", "somebody other than the requester has to approve"},
    {"duplicate_approval", "an approval of somebody else is needed"},
    {"forbidden", "talk to the controller over its unix socket, where your user is known"},
    {"overloaded", "nothing was changed; try again in a moment"},
    {"store_unavailable", "`muster status` tells what the store reports"},
    {"compacted", "only the latest are kept; list what there is"},
}};

std::string hint_of(std::string_view code) {
  for (const Hint& hint : kHints) {
    if (hint.code == code) return std::string(hint.text);
  }
  return {};
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Where it is wrong: in the model, or in what was sent.
std::string place_of(const FieldProblem& field) {
  if (field.path.empty()) return field.pointer.empty() ? field.plugin : field.pointer;
  return field.property.empty() ? field.path : fmt::format("{} {}", field.path, field.property);
}

}  // namespace

Failure::Failure(const Error& error)
    : exit(exit_code_of_error(error.code)), code(name(error.code)), detail(error.message) {
  for (const FieldError& field : error.fields) {
    fields.push_back({field.pointer, std::string(name(field.code)), field.detail, field.path,
                      field.property, field.rule, field.plugin});
  }
}

Failure failure_of_answer(int status, std::string_view body) {
  Failure failure;
  failure.http_status = status;
  failure.exit = exit_code_of_http(status);
  const Result<Json> parsed = parse_json(body);
  if (!parsed || !parsed->is_object()) {
    failure.code = fmt::format("http_{}", status);
    failure.detail = fmt::format("the controller answered with status {}", status);
    if (!body.empty()) failure.detail += fmt::format(": {}", body.substr(0, kQuotedBodyMax));
    return failure;
  }
  failure.code = text_of(*parsed, "code");
  if (failure.code.empty()) failure.code = fmt::format("http_{}", status);
  failure.detail = text_of(*parsed, "detail");
  if (failure.detail.empty()) failure.detail = text_of(*parsed, "title");
  if (failure.detail.empty()) failure.detail = fmt::format("status {}", status);
  failure.request_id = text_of(*parsed, "request_id");
  failure.hint = text_of(*parsed, "hint");
  if (failure.hint.empty()) failure.hint = hint_of(failure.code);
  if (const auto errors = parsed->find("errors"); errors != parsed->end() && errors->is_array()) {
    for (const Json& entry : *errors) {
      if (!entry.is_object()) continue;
      failure.fields.push_back({text_of(entry, "pointer"), text_of(entry, "code"),
                                text_of(entry, "detail"), text_of(entry, "path"),
                                text_of(entry, "property"), text_of(entry, "rule"),
                                text_of(entry, "plugin")});
    }
  }
  return failure;
}

std::string render(const Failure& failure) {
  std::string text = fmt::format("error: {}", printable(failure.detail));
  if (!failure.code.empty()) text += fmt::format(" ({})", printable(failure.code));
  text += '\n';
  // One wrong field is mostly what the detail already says.
  const bool told = failure.fields.size() == 1 &&
                    failure.detail.find(failure.fields[0].detail) != std::string::npos;
  if (told && failure.detail.find(place_of(failure.fields[0])) == std::string::npos) {
    text += fmt::format("  at {}\n", printable(place_of(failure.fields[0])));
  }
  for (const FieldProblem& field : failure.fields) {
    // A line without a place adds nothing to a detail that has it.
    const std::string place = place_of(field);
    const bool repeats = place.empty() && !field.detail.empty() &&
                         failure.detail.find(field.detail) != std::string::npos;
    if (told || repeats) continue;
    text += fmt::format("  {}: {}", place.empty() ? "(body)" : printable(place),
                        printable(field.detail));
    const std::string& code = field.rule.empty() ? field.code : field.rule;
    if (!code.empty()) text += fmt::format(" ({})", printable(code));
    text += '\n';
  }
  if (!failure.hint.empty()) text += fmt::format("hint: {}\n", printable(failure.hint));
  // Only a fault of the controller itself is worth looking up in its log.
  if (failure.http_status >= 500 && !failure.request_id.empty()) {
    text += fmt::format("request id: {}\n", printable(failure.request_id));
  }
  return text;
}

}  // namespace muster::cli
