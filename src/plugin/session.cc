#include "plugin/session.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/utf8.h"
#include "model/quoted.h"
#include "os/clock.h"
#include "plugin/model_json.h"

namespace muster::plugin {
namespace {

constexpr JsonLimits kJsonLimits = {.bytes_max = std::numeric_limits<std::size_t>::max(),
                                    .depth_max = 64};

std::vector<std::string> make_environment(const Program& program, const SessionOptions& options) {
  std::vector<std::string> environment = {"LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
                                          "MUSTER_PACK=" + program.pack};
  for (const char* const name : {"PATH", "HOME", "TMPDIR"}) {
    if (const char* const value = ::getenv(name)) {
      environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  if (!options.sdk.empty()) environment.push_back("PYTHONPATH=" + options.sdk);
  return environment;
}

// Nothing that a plugin could ask for is there before it has said what it is.
class NoRequests : public CallHandler {
 public:
  RequestAnswer on_request(const std::string& method, Json&) override {
    return RpcError{kMethodNotFound, fmt::format("'{}' cannot be asked for in this call", method)};
  }
  std::string on_tasks(Json&&) override { return "sent tasks that nobody asked for"; }
};

bool read_names(const Json& answer, const char* field, std::vector<std::string>& names) {
  const auto found = answer.find(field);
  if (found == answer.end()) return true;
  if (!found->is_array()) return false;
  for (const Json& name : *found) {
    if (!name.is_string()) return false;
    names.push_back(name.get<std::string>());
  }
  return true;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the types of a pack want of its plugin, and the plugin does not name.
std::vector<std::string> find_missing(const model::Schema& schema, const std::string& pack,
                                      const Capabilities& capabilities) {
  std::vector<std::string> missing;
  const auto need = [&](const std::vector<std::string>& names, std::string_view list,
                        const std::string& method, const std::string& user) {
    if (has(names, method)) return;
    missing.push_back(fmt::format("{} names {} of '{}', which is not among '{}'", user,
                                  model::quoted(method), pack, list));
  };
  for (const auto& [id, type] : schema.property_types()) {
    if (type->pack != pack) continue;
    for (const model::ValueCheck& check : type->definition.checks) {
      if (const auto* plugin = std::get_if<model::PluginCheck>(&check)) {
        need(capabilities.checks, "checks", plugin->method, fmt::format("property type '{}'", id));
      }
    }
  }
  for (const auto& [id, type] : schema.item_types()) {
    if (type->pack != pack) continue;
    for (const auto& [owner, check] : type->checks) {
      const auto* plugin = std::get_if<model::PluginCheck>(&check);
      if (plugin != nullptr && owner == pack) {
        need(capabilities.checks, "checks", plugin->method, fmt::format("item type '{}'", id));
      }
    }
    for (const auto& [name, view] : type->views) {
      if (view.pack == pack) {
        need(capabilities.views, "views", view.method, fmt::format("item type '{}'", id));
      }
    }
  }
  return missing;
}

FailureKind kind_of(int code) {
  switch (code) {
    case kRefused:
      return FailureKind::Refused;
    case kOutOfMemory:
      return FailureKind::OutOfMemory;
    case kStopped:
      return FailureKind::Stopped;
    default:
      return FailureKind::Wrong;
  }
}

}  // namespace

LogSink process_log() {
  return [](log::Level level, const std::string& pack, std::string_view text) {
    log::write(level, "plugin says", {{"plugin", pack}, {"text", text}});
  };
}

bool Capabilities::has_method(std::string_view method) const { return has(methods, method); }

PluginFailure Session::failure(FailureKind kind, std::string_view method,
                               std::string reason) const {
  return {kind, program_.pack, std::string(method), std::move(reason)};
}

PluginFailure Session::kill(FailureKind kind, std::string_view method, std::string reason) {
  wire_->kill();
  return failure(kind, method, std::move(reason));
}

bool Session::close() {
  const bool ended = wire_->close();
  const std::vector<std::string>& left = wire_->left_behind();
  if (left.empty()) return ended;
  if (options_.on_left_behind) {
    options_.on_left_behind(program_.pack, left);
  } else {
    std::string names;
    for (const std::string& process : left) names += (names.empty() ? "" : ", ") + process;
    options_.log(log::Level::Warn, program_.pack,
                 fmt::format("ended, but left processes behind, which were killed: {}", names));
  }
  return ended;
}

PluginResult<std::unique_ptr<Session>> Session::start(Launcher& launcher, const Program& program,
                                                      const SessionOptions& options,
                                                      const model::Schema& schema) {
  std::unique_ptr<Session> session(new Session(program, options));
  // The limit of the address space is a net for what grows faster than it is looked at; mappings
  // that are never touched count there, so it is wider than what the plugin may really use.
  const std::uint64_t address_space = options.limits.memory_bytes * 2 + (std::uint64_t{1} << 30);
  Result<Launched> launched = launcher.launch({.program = program.program,
                                               .directory = program.folder,
                                               .environment = make_environment(program, options),
                                               .address_space_max = address_space});
  if (!launched) {
    return tl::unexpected(session->failure(FailureKind::NotStarted, "start",
                                           "cannot be started: " + launched.error().message));
  }
  session->wire_ =
      std::make_unique<Wire>(std::move(*launched), options.limits,
                             [log = options.log, pack = program.pack](std::string_view line) {
                               log(log::Level::Info, pack, line);
                             });
  if (PluginResult<void> agreed = session->initialize(schema); !agreed) {
    return tl::unexpected(std::move(agreed.error()));
  }
  return session;
}

PluginResult<void> Session::initialize(const model::Schema& schema) {
  const Json params = {{"protocol", kProtocolVersion},
                       {"muster", options_.muster_version},
                       {"pack", program_.pack},
                       {"pack_version", program_.version},
                       {"limits",
                        {{"message_bytes", options_.limits.message_bytes},
                         {"memory_bytes", options_.limits.memory_bytes}}},
                       {"types", types_json(schema)}};
  NoRequests nothing;
  PluginResult<Json> answer =
      call("initialize", params, nothing, {.timeout = options_.start_timeout});
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return take_capabilities(*answer, schema);
}

PluginResult<void> Session::take_capabilities(const Json& answer, const model::Schema& schema) {
  const auto refuse = [&](std::string reason) {
    return tl::unexpected(kill(FailureKind::Incompatible, "initialize", std::move(reason)));
  };
  if (!answer.is_object()) return refuse("answered with something that is no mapping");
  const auto protocol = answer.find("protocol");
  if (protocol == answer.end() || *protocol != kProtocolVersion) {
    return refuse(fmt::format("speaks protocol {}; this Muster speaks {}",
                              protocol == answer.end() ? "nothing" : dump_json(*protocol),
                              kProtocolVersion));
  }
  const auto name = answer.find("name");
  if (name == answer.end() || *name != program_.pack) {
    return refuse(fmt::format("says that it is {}, but is the plugin of pack '{}'",
                              name == answer.end() ? "nothing" : excerpt(dump_json(*name)),
                              program_.pack));
  }
  capabilities_.name = program_.pack;
  if (const auto version = answer.find("version");
      version != answer.end() && version->is_string()) {
    capabilities_.version = version->get<std::string>();
  }
  const bool read = read_names(answer, "methods", capabilities_.methods) &&
                    read_names(answer, "checks", capabilities_.checks) &&
                    read_names(answer, "views", capabilities_.views) &&
                    read_names(answer, "callbacks", capabilities_.callbacks);
  if (!read) return refuse("'methods', 'checks', 'views' and 'callbacks' must be lists of texts");
  std::vector<std::string> missing = find_missing(schema, program_.pack, capabilities_);
  if (missing.empty()) return {};
  PluginFailure failed =
      kill(FailureKind::Incompatible, "initialize", "lacks what the types of its pack name");
  failed.problems = std::move(missing);
  return tl::unexpected(std::move(failed));
}

void Session::answer(const PluginRequest& request, RequestAnswer&& answer) {
  if (auto* stream = std::get_if<StreamAnswer>(&answer)) {
    wire_->send(std::move(stream->source));
    wire_->send(result_line(request.id, stream->result));
  } else if (const auto* error = std::get_if<RpcError>(&answer)) {
    wire_->send(error_line(request.id, *error));
  } else {
    wire_->send(result_line(request.id, std::get<Json>(answer)));
  }
}

void Session::log_notification(const Json& params) {
  if (!wire_->take_log_line()) return;
  const auto message = params.find("message");
  const auto level = params.find("level");
  if (message == params.end() || !message->is_string()) return;
  const Result<log::Level> known =
      log::parse_level(level != params.end() && level->is_string() ? level->get<std::string>()
                                                                   : std::string("info"));
  const auto& text = message->get_ref<const std::string&>();
  options_.log(known.value_or(log::Level::Info), program_.pack,
               utf8_front(text, options_.limits.log_line_bytes));
}

PluginResult<Json> Session::call(std::string_view method, const Json& params, CallHandler& handler,
                                 const CallOptions& options) {
  const std::int64_t id = ++last_id_;
  wire_->begin_call();
  wire_->send(request_line(id, method, params));
  PluginResult<Json> answer = converse(method, id, handler, options);
  wire_->end_call();
  return answer;
}

// Until the answer is there.
PluginResult<Json> Session::converse(std::string_view method, std::int64_t id, CallHandler& handler,
                                     const CallOptions& options) {
  const Duration deadline = os::monotonic_now() + options.timeout;
  while (true) {
    auto line = wire_->receive(deadline, options.timeout, options.cancelled);
    if (!line) return tl::unexpected(failure(line.error().kind, method, line.error().reason));
    Result<PluginMessage> message = parse_message(*line, kJsonLimits);
    if (!message) {
      return tl::unexpected(
          kill(FailureKind::Garbage, method,
               fmt::format("sent {} bytes that are no message: {}; {}", line->size(),
                           excerpt(*line), message.error().message)));
    }
    if (auto* request = std::get_if<PluginRequest>(&*message)) {
      answer(*request, handler.on_request(request->method, request->params));
    } else if (auto* notification = std::get_if<PluginNotification>(&*message)) {
      if (notification->method == "log") {
        log_notification(notification->params);
      } else if (notification->method == "tasks") {
        std::string problem = handler.on_tasks(std::move(notification->params["tasks"]));
        if (!problem.empty()) {
          return tl::unexpected(kill(FailureKind::Flooded, method, std::move(problem)));
        }
      } else {
        return tl::unexpected(kill(FailureKind::Garbage, method,
                                   fmt::format("sent a notification {} that there is not",
                                               model::quoted(notification->method))));
      }
    } else {
      auto& response = std::get<PluginResponse>(*message);
      if (response.id != id) {
        return tl::unexpected(
            kill(FailureKind::Garbage, method,
                 fmt::format("answered request {}, but was asked {}", response.id, id)));
      }
      if (auto* error = std::get_if<RpcError>(&response.outcome)) {
        const std::string_view cut = utf8_front(error->message, options_.limits.log_line_bytes);
        PluginFailure failed = failure(kind_of(error->code), method, std::string(cut));
        failed.code = error->code;
        return tl::unexpected(std::move(failed));
      }
      return std::move(std::get<Json>(response.outcome));
    }
  }
}

}  // namespace muster::plugin
