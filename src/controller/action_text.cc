#include "controller/action_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "controller/action_json.h"

namespace muster::controller {
namespace {

// What stands in a JSON string as it is. Everything else goes the long way, which also repairs
// invalid UTF-8.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_string(std::string& out, std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) {
    out += '"';
    out += text;
    out += '"';
  } else {
    out += dump_json(Json(text));
  }
}

// One object; fields are to be given in the order of their keys.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }

  void text(std::string_view name, std::string_view value) { append_string(key(name), value); }
  void text_or_null(std::string_view name, std::string_view value) {
    if (value.empty()) {
      key(name) += "null";
    } else {
      text(name, value);
    }
  }
  void number(std::string_view name, std::integral auto value) {
    fmt::format_to(std::back_inserter(key(name)), "{}", value);
  }
  void time(std::string_view name, Timestamp value) {
    if (value.is_set()) {
      text(name, format_rfc3339_micros(value));
    } else {
      key(name) += "null";
    }
  }
  void duration(std::string_view name, Duration value) {
    key(name) += dump_json(duration_json(value));
  }
  void json(std::string_view name, const Json& value) { key(name) += dump_json(value); }
  void ids(std::string_view name, const std::vector<core::ActionId>& list) {
    key(name) += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ',';
      append_string(out_, list[i].to_string());
    }
    out_ += ']';
  }
  // Text that was checked when it came in. What does not parse after all is shown as it is rather
  // than hidden.
  void object(std::string_view name, const core::JsonText& value) {
    if (value == "{}") {
      key(name) += value;
      return;
    }
    const Result<Json> parsed = parse_json(value);
    json(name, parsed && parsed->is_object() ? *parsed : Json{{"unreadable", value}});
  }
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

Json approval_json(const core::Action& action) {
  const auto& policy = action.spec->approval;
  if (!policy) return nullptr;
  Json decisions = Json::array();
  for (const core::ApprovalDecision& decision : action.decisions) {
    decisions.push_back({{"who", decision.who},
                         {"approved", decision.approved},
                         {"reason", decision.reason},
                         {"at", time_json(decision.at)}});
  }
  return {{"count", policy->count},
          {"allow_requester", policy->allow_requester},
          {"expires_in", duration_json(policy->expires_in)},
          {"decisions", std::move(decisions)}};
}

void append_retry(ObjectWriter& writer, const core::RetryPolicy& retry) {
  ObjectWriter inner(writer.key("retry"));
  inner.number("attempts", retry.attempts);
  inner.duration("backoff", retry.backoff.initial);
  inner.duration("max_backoff", retry.backoff.max);
  inner.close();
}

}  // namespace

void append_action(std::string& out, const core::Action& action) {
  const core::ActionSpec& spec = *action.spec;
  ObjectWriter writer(out);
  writer.text("action", spec.kind);
  writer.json("approval", approval_json(action));
  writer.number("attempt", action.attempt);
  writer.text("cause", core::name(spec.cause));
  writer.object("context", spec.context);
  writer.text("control", core::name(action.control));
  writer.text("control_reason", action.control_reason);
  writer.time("created_at", spec.created_at);
  writer.object("data", action.data);
  writer.time("deadline", action.deadline);
  writer.ids("depended_by", action.depended_by);
  writer.ids("depends_on", spec.depends_on);
  writer.ids("depends_on_left", action.depends_on_left);
  writer.text("id", spec.id.to_string());
  writer.object("inputs", spec.inputs);
  writer.duration("interval", spec.interval);
  writer.text("misfire", spec.misfire == core::Misfire::Skip ? "skip" : "run_once");
  writer.text("name", spec.name);
  writer.time("next_try", action.next_try);
  writer.text("origin", spec.origin == core::Origin::Controller ? "controller" : "agent");
  writer.object("outputs", action.outputs);
  writer.text_or_null("owner", action.owner);
  writer.text_or_null("parent", spec.parent ? spec.parent->to_string() : std::string());
  writer.text_or_null("plan", spec.plan);
  writer.duration("queue_timeout", spec.queue_timeout);
  writer.text("requested_by", spec.requested_by);
  append_retry(writer, spec.retry);
  writer.number("revision", action.revision);
  writer.number("runs", action.runs);
  writer.time("scheduled_start", spec.not_before);
  writer.time("scheduled_stop", spec.not_after);
  writer.text("side", spec.side == core::Side::Engine ? "engine" : "agent");
  writer.time("start_time", action.start_time);
  writer.text("status", core::name(action.status));
  writer.text("status_reason", action.status_reason);
  writer.time("status_since", action.status_since);
  writer.time("stop_time", action.stop_time);
  writer.text("target", spec.target);
  writer.text_or_null("task", spec.task);
  writer.duration("timeout", spec.timeout);
  writer.number("tries", action.tries);
  writer.time("updated_at", action.updated_at);
  writer.close();
}

std::string action_document(const core::Action& action) {
  std::string text = R"({"action":)";
  append_action(text, action);
  text += '}';
  return text;
}

}  // namespace muster::controller
