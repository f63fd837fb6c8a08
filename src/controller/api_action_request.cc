#include "controller/api_action_request.h"
#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "controller/api_body.h"
#include "core/kind/catalog.h"

namespace muster::controller {
namespace {

constexpr std::size_t kDependenciesMax = 1'000;
constexpr std::size_t kDependentsMax = 10'000;
constexpr Duration kIntervalMin = Duration::seconds(1);
constexpr std::uint64_t kAttemptsMax = 1000;
constexpr std::uint64_t kApproversMax = 100;

std::optional<core::ActionId> read_id(ObjectReader& reader, std::string_view field) {
  const auto text = reader.text(field, kNameCharactersMax);
  if (!text) return std::nullopt;
  const Result<Uuid> id = Uuid::parse(*text);
  if (!id) {
    reader.invalid(field, fmt::format("{}: {}", field, id.error().message));
    return std::nullopt;
  }
  if (id->is_nil()) {
    reader.invalid(field, fmt::format("{} must not be the nil UUID", field));
    return std::nullopt;
  }
  return *id;
}

// An object as canonical text: sorted keys, no spaces.
core::JsonText read_object(ObjectReader& reader, std::string_view field) {
  const Json* value = reader.find(field);
  if (value == nullptr) return "{}";
  if (!value->is_object()) {
    reader.invalid(field, fmt::format("{} must be an object, not {}", field, type_of(*value)));
    return "{}";
  }
  std::string text = dump_json(*value);
  if (text.size() > kInputsBytesMax) {
    reader.invalid(field, fmt::format("{} has {} bytes, at most {} are allowed", field, text.size(),
                                      kInputsBytesMax));
    return "{}";
  }
  return text;
}

// Zero means the controller's default, as in Senlin.
std::optional<Duration> read_timeout(ObjectReader& reader, std::string_view field) {
  const auto duration = reader.duration(field);
  return duration && duration->is_zero() ? std::nullopt : duration;
}

void read_retry(ObjectReader& reader, Problems& problems, core::RetryPolicy& retry) {
  const Json* value = reader.find("retry");
  if (value == nullptr) return;
  ObjectReader fields(*value, reader.pointer_to("retry"), problems);
  if (const auto attempts = fields.number("attempts", 1, kAttemptsMax)) {
    retry.attempts = static_cast<std::uint32_t>(*attempts);
  }
  const auto initial = fields.duration("backoff");
  const auto max = fields.duration("max_backoff");
  if (initial) retry.backoff.initial = *initial;
  // A first delay above the default upper bound raises the bound, unless one was asked for.
  retry.backoff.max = max.value_or(std::max(retry.backoff.max, retry.backoff.initial));
  if (max && *max < retry.backoff.initial) {
    fields.invalid("max_backoff",
                   fmt::format("max_backoff is {}, it must not be less than backoff, which is {}",
                               format_duration(*max), format_duration(retry.backoff.initial)));
  }
  fields.finish();
}

std::optional<core::ApprovalPolicy> read_approval(ObjectReader& reader, Problems& problems) {
  const Json* value = reader.find("approval");
  if (value == nullptr || *value == Json(false) || *value == Json("granted")) return std::nullopt;
  core::ApprovalPolicy policy;
  if (*value == Json(true) || *value == Json("required")) return policy;
  if (!value->is_object()) {
    reader.invalid("approval",
                   "approval must be true, false, 'required', 'granted' or an object with count, "
                   "allow_requester and expires_in");
    return std::nullopt;
  }
  ObjectReader fields(*value, reader.pointer_to("approval"), problems);
  if (const auto count = fields.number("count", 1, kApproversMax)) {
    policy.count = static_cast<std::uint32_t>(*count);
  }
  if (const auto allow = fields.flag("allow_requester")) policy.allow_requester = *allow;
  if (const auto expires = fields.duration("expires_in")) {
    policy.expires_in = *expires;
    if (expires->is_zero()) fields.invalid("expires_in", "expires_in must be more than zero");
  }
  fields.finish();
  return policy;
}

// A name stands in paths and on command lines, so that it must be one segment.
std::string read_name(ObjectReader& reader) {
  if (reader.is_null("name")) {
    reader.invalid("name", "name is null, leave it out to have one made from the kind");
  }
  std::string name = reader.text("name", kNameCharactersMax).value_or("");
  if (name.find('/') != std::string::npos) {
    reader.invalid("name",
                   fmt::format("name is {}, it must not contain '/', which separates the parts of "
                               "a path; use '-' or '.' instead",
                               in_quotes(name)));
  }
  return name;
}

void read_schedule(ObjectReader& reader, core::ActionRequest& request) {
  request.timeout = read_timeout(reader, "timeout");
  request.queue_timeout = read_timeout(reader, "queue_timeout");
  const auto interval = reader.duration("interval");
  request.interval = interval.value_or(Duration{});
  if (!request.interval.is_zero() && request.interval < kIntervalMin) {
    reader.invalid("interval",
                   fmt::format("interval is {}, it must be {} at least, or 0 for once",
                               format_duration(request.interval), format_duration(kIntervalMin)));
  }
  // One that could not be read is a mistake of its own.
  const bool once = interval ? interval->is_zero() : reader.find("interval") == nullptr;
  if (const auto misfire = reader.text("misfire", kNameCharactersMax)) {
    if (*misfire != "run_once" && *misfire != "skip") {
      reader.invalid("misfire",
                     fmt::format("misfire is '{}', it must be skip or run_once", *misfire));
    } else if (once) {
      reader.invalid("misfire", "misfire is about missed runs, it goes only with an interval");
    }
    if (*misfire == "run_once") request.misfire = core::Misfire::RunOnce;
  }
  request.not_before = reader.time("start_time").value_or(Timestamp{});
  request.not_after = reader.time("stop_time").value_or(Timestamp{});
  if (request.not_before.is_set() && request.not_after.is_set() &&
      request.not_after <= request.not_before) {
    reader.invalid("stop_time", fmt::format("stop_time {} must be after start_time {}",
                                            format_rfc3339(request.not_after),
                                            format_rfc3339(request.not_before)));
  }
}

core::ActionRequest read_action(const Json& value, std::string pointer, Problems& problems) {
  core::ActionRequest request;
  ObjectReader reader(value, std::move(pointer), problems);
  if (!value.is_object()) return request;
  request.id = read_id(reader, "id");
  request.name = read_name(reader);
  reader.require("action");
  request.kind = reader.text("action", kNameCharactersMax).value_or("");
  request.target = reader.text("target", kNameCharactersMax, true).value_or("");
  request.inputs = read_object(reader, "inputs");
  request.context = read_object(reader, "context");
  request.depends_on = reader.texts("depends_on", kDependenciesMax, kNameCharactersMax)
                           .value_or(std::vector<std::string>{});
  request.depended_by = reader.texts("depended_by", kDependentsMax, kNameCharactersMax)
                            .value_or(std::vector<std::string>{});
  request.parent = read_id(reader, "parent");
  read_schedule(reader, request);
  read_retry(reader, problems, request.retry);
  request.approval = read_approval(reader, problems);
  request.hold = reader.flag("hold").value_or(false);
  request.plan = reader.text("plan", kNameCharactersMax, true).value_or("");
  request.task = reader.text("task", kNameCharactersMax, true).value_or("");
  const Json* inputs = reader.find("inputs");
  if (!request.kind.empty() && (inputs == nullptr || inputs->is_object())) {
    problems.add_all(core::KindCatalog::check_inputs(
        request.kind, inputs == nullptr ? Json::object() : *inputs, reader.pointer_to("inputs")));
  }
  reader.finish();
  return request;
}

void read_actions(const Json& list, Problems& problems, CreateBody& body) {
  if (!list.is_array()) {
    problems.add("/actions", ErrorCode::InvalidValue,
                 fmt::format("actions must be a list of actions, not {}", type_of(list)));
    return;
  }
  if (list.empty() || list.size() > kActionsPerRequestMax) {
    problems.add("/actions", ErrorCode::InvalidValue,
                 fmt::format("actions has {} entries, it must have 1 to {}", list.size(),
                             kActionsPerRequestMax));
    return;
  }
  body.actions.reserve(list.size());
  for (std::size_t i = 0; i < list.size() && !problems.full(); ++i) {
    body.actions.push_back(read_action(list[i], fmt::format("/actions/{}", i), problems));
  }
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

}  // namespace

Result<CreateBody> read_create(std::string_view text, Problems& problems) {
  MUSTER_TRY_ASSIGN(const Json body, parse_body(text));
  CreateBody decoded;
  ObjectReader reader(body, "", problems);
  const Json* one = reader.find("action");
  const Json* many = reader.find("actions");
  if (one != nullptr && many != nullptr) {
    problems.add("", ErrorCode::InvalidRequest,
                 "the body must have either 'action' or 'actions', not both");
  } else if (one != nullptr) {
    decoded.single = true;
    decoded.actions.push_back(read_action(*one, "/action", problems));
  } else if (many != nullptr) {
    read_actions(*many, problems, decoded);
  } else if (body.is_object()) {
    problems.add("/action", ErrorCode::MissingField,
                 "the body must have 'action' (one action) or 'actions' (a list)");
  }
  reader.finish();
  return decoded;
}

Result<CreateBody> decode_create(std::string_view text) {
  Problems problems;
  MUSTER_TRY_ASSIGN(CreateBody body, read_create(text, problems));
  if (!problems.empty()) return fail(problems.to_error());
  return body;
}

Error merge_mistakes(Problems problems, const Error& of_engine) {
  for (const FieldError& field : of_engine.fields) {
    if (!problems.has(field.pointer)) problems.add(field.pointer, field.code, field.detail);
  }
  return problems.to_error();
}

Result<SignalBody> decode_signal(std::string_view body) {
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  SignalBody decoded;
  ObjectReader reader(json, "", problems);
  if (json.is_object()) reader.require("signal");
  if (const auto word = reader.text("signal", kNameCharactersMax)) {
    if (const auto signal = core::parse_signal(upper(*word))) {
      decoded.signal = *signal;
    } else {
      static constexpr std::array<std::string_view, 3> kWords = {"CANCEL", "SUSPEND", "RESUME"};
      reader.invalid("signal", fmt::format("signal is '{}', it must be CANCEL, SUSPEND or RESUME{}",
                                           *word, did_you_mean(*word, kWords)));
    }
  }
  decoded.reason = reader.text("reason", kReasonCharactersMax, true).value_or("");
  decoded.force = reader.flag("force").value_or(false);
  if (decoded.force && decoded.signal != core::Signal::Cancel &&
      decoded.signal != core::Signal::None) {
    reader.invalid("force", "force goes only with the signal CANCEL");
  }
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return decoded;
}

Result<void> decode_cancel_patch(std::string_view body) {
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  const Json* action = json.is_object() ? reader.require("action") : nullptr;
  if (action != nullptr) {
    ObjectReader fields(*action, "/action", problems);
    if (action->is_object()) fields.require("status");
    const auto status = fields.text("status", kNameCharactersMax);
    if (status && upper(*status) != "CANCELLED") {
      fields.invalid("status",
                     fmt::format("status is '{}', a PATCH can only set CANCELLED", *status));
    }
    fields.finish();
  }
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return {};
}

Result<std::string> decode_decision(std::string_view body) {
  if (body.empty()) return std::string();
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  std::string reason = reader.text("reason", kReasonCharactersMax, true).value_or("");
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return reason;
}

Error with_client_pointers(Error error, bool single) {
  static constexpr std::string_view kFirst = "/actions/0";
  if (!single) return error;
  for (FieldError& field : error.fields) {
    const std::string_view rest =
        std::string_view(field.pointer).substr(std::min(kFirst.size(), field.pointer.size()));
    if (field.pointer.starts_with(kFirst) && (rest.empty() || rest.front() == '/')) {
      field.pointer = fmt::format("/action{}", rest);
    }
  }
  return error;
}

}  // namespace muster::controller
