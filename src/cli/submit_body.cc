#include "base/time.h"
#include "cli/inputs.h"
#include "cli/submit.h"
#include "cli/yaml.h"

namespace muster::cli {
namespace {

// Checked here, so that a slip is told before anything is sent; sent as it was typed.
Outcome<void> put_duration(Json& action, const char* key, const std::string& text,
                           std::string_view option) {
  if (text.empty()) return {};
  const Result<Duration> duration = parse_duration(text);
  if (!duration) return usage("{}: {}", option, duration.error().message);
  action[key] = text;
  return {};
}

Outcome<void> put_time(Json& action, const char* key, const std::string& text, Timestamp now,
                       std::string_view option) {
  if (text.empty()) return {};
  MUSTER_TRY_ASSIGN(action[key], read_time(text, now, option));
  return {};
}

void put_text(Json& action, const char* key, const std::string& text) {
  if (!text.empty()) action[key] = text;
}

Outcome<Json> read_object(const std::string& text, std::string_view option) {
  MUSTER_TRY_ASSIGN(Json value, read_json_argument(text, option));
  if (!value.is_object()) return usage("{} must be a JSON object", option);
  return value;
}

Outcome<Json> inputs_of(const SubmitOptions& options,
                        const std::optional<std::vector<std::string>>& argv) {
  Json inputs = Json::object();
  if (!options.inputs_json.empty()) {
    MUSTER_TRY_ASSIGN(inputs, read_object(options.inputs_json, "--inputs"));
  }
  for (const std::string& input : options.inputs) MUSTER_TRY(apply_input(inputs, input));
  if (argv) {
    if (options.kind != "exec") {
      return usage("a command after -- is for the kind exec, not '{}'", options.kind);
    }
    if (argv->empty()) return usage("no command after --");
    if (inputs.contains("argv") || inputs.contains("script")) {
      return usage("a command after -- excludes the inputs argv and script");
    }
    inputs["argv"] = *argv;
  }
  return inputs;
}

Outcome<void> put_retry(Json& action, const SubmitOptions& options) {
  if (!options.retries && options.backoff.empty() && options.max_backoff.empty()) {
    return {};
  }
  Json retry = Json::object();
  // The API counts executions in all; people count how often it is done again.
  // Without it the back-off still counts: for what asks to be run again.
  if (options.retries) retry["attempts"] = static_cast<std::uint64_t>(*options.retries) + 1;
  MUSTER_TRY(put_duration(retry, "backoff", options.backoff, "--backoff"));
  MUSTER_TRY(put_duration(retry, "max_backoff", options.max_backoff, "--max-backoff"));
  action["retry"] = std::move(retry);
  return {};
}

Outcome<void> put_approval(Json& action, const SubmitOptions& options) {
  Json approval = Json::object();
  if (options.approvers) approval["count"] = *options.approvers;
  if (options.allow_requester) approval["allow_requester"] = true;
  MUSTER_TRY(put_duration(approval, "expires_in", options.approval_expires, "--approval-expires"));
  if (!approval.empty()) {
    action["approval"] = std::move(approval);
  } else if (options.approval) {
    action["approval"] = true;
  }
  return {};
}

}  // namespace

Result<std::string> read_time(std::string_view text, Timestamp now, std::string_view option) {
  if (text.starts_with('+')) {
    Result<Duration> duration = parse_duration(text.substr(1));
    if (!duration) return fail(std::move(duration.error()).wrap(option));
    return format_rfc3339(now + *duration);
  }
  Result<Timestamp> time = parse_rfc3339(text);
  if (!time) {
    return fail(ErrorCode::InvalidValue, "{}: {}, nor +DURATION from now", option,
                time.error().message);
  }
  return format_rfc3339(*time);
}

Outcome<Json> action_from_flags(const SubmitOptions& options,
                                const std::optional<std::vector<std::string>>& argv,
                                Timestamp now) {
  Json action = {{"action", options.kind}};
  MUSTER_TRY_ASSIGN(Json inputs, inputs_of(options, argv));
  if (!inputs.empty()) action["inputs"] = std::move(inputs);
  if (!options.context_json.empty()) {
    MUSTER_TRY_ASSIGN(action["context"], read_object(options.context_json, "--context"));
  }
  put_text(action, "target", options.target);
  put_text(action, "name", options.name);
  put_text(action, "id", options.id);
  put_text(action, "misfire", options.misfire);
  if (!options.depends_on.empty()) action["depends_on"] = options.depends_on;
  if (!options.depended_by.empty()) action["depended_by"] = options.depended_by;
  MUSTER_TRY(put_duration(action, "timeout", options.timeout, "--timeout"));
  MUSTER_TRY(put_duration(action, "queue_timeout", options.queue_timeout, "--queue-timeout"));
  MUSTER_TRY(put_duration(action, "interval", options.interval, "--interval"));
  MUSTER_TRY(put_time(action, "start_time", options.start_time, now, "--start-time"));
  MUSTER_TRY(put_time(action, "stop_time", options.stop_time, now, "--stop-time"));
  MUSTER_TRY(put_retry(action, options));
  MUSTER_TRY(put_approval(action, options));
  if (options.hold) action["hold"] = true;
  return action;
}

Outcome<Json> body_from_text(std::string_view text) {
  // JSON first: its reader names the place of an error better, and most JSON is not meant as YAML.
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool looks_like_json =
      start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
  Result<Json> document = looks_like_json ? parse_json(text) : parse_yaml(text);
  if (!document && looks_like_json) {
    // YAML in flow style starts like JSON.
    if (Result<Json> yaml = parse_yaml(text)) document = std::move(yaml);
  }
  if (!document) return fail(std::move(document.error()));
  if (document->is_array()) return Json{{"actions", std::move(*document)}};
  if (!document->is_object()) return usage("the file holds neither an action nor a list of them");
  if (document->contains("actions")) return std::move(*document);
  const auto action = document->find("action");
  if (action == document->end()) {
    return usage("the file has neither 'action' nor 'actions' at its top");
  }
  if (action->is_object()) return std::move(*document);
  return Json{{"action", std::move(*document)}};
}

}  // namespace muster::cli
