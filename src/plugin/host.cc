#include "plugin/host.h"

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "log/thread_name.h"
#include "model/quoted.h"
#include "plugin/lock_codec.h"
#include "plugin/services.h"

namespace muster::plugin {
namespace {

constexpr int kViewDepthMax = 5;
constexpr std::size_t kFindingsMax = 10'000;

PluginFailure garbage(Session& session, std::string_view method, std::string reason) {
  return session.kill(FailureKind::Garbage, method, std::move(reason));
}

}  // namespace

// A process for one call; given back, or ended, when it is done.
class PluginHost::Lease {
 public:
  Lease(PluginHost& host, Plugin& plugin, std::unique_ptr<Session> session)
      : host_(&host), plugin_(&plugin), session_(std::move(session)) {}
  Lease(Lease&& other) = default;
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (session_ != nullptr) host_->give_back(*plugin_, std::move(session_));
  }

  Session& operator*() { return *session_; }
  Session* operator->() { return session_.get(); }

 private:
  PluginHost* host_;
  Plugin* plugin_;
  std::unique_ptr<Session> session_;
};

PluginHost::PluginHost(std::vector<Program> programs, model::SchemaPtr schema, HostOptions options)
    : schema_(std::move(schema)), options_(std::move(options)) {
  for (Program& program : programs) {
    plugins_.push_back(std::make_unique<Plugin>());
    plugins_.back()->program = std::move(program);
  }
}

PluginHost::~PluginHost() { close_idle(); }

PluginHost::Plugin* PluginHost::find(const std::string& pack) {
  const auto found = std::find_if(plugins_.begin(), plugins_.end(),
                                  [&](const auto& plugin) { return plugin->program.pack == pack; });
  return found == plugins_.end() ? nullptr : found->get();
}

bool PluginHost::may_have(const Plugin& plugin, std::string_view method) {
  const std::lock_guard lock(mutex_);
  return plugin.capabilities == nullptr || plugin.capabilities->has_method(method);
}

PluginResult<PluginHost::Lease> PluginHost::lease(Plugin& plugin, std::string_view method) {
  {
    std::unique_lock lock(mutex_);
    while (!plugin.idle.empty()) {
      std::unique_ptr<Session> session = std::move(plugin.idle.back());
      plugin.idle.pop_back();
      if (session->is_idle()) return Lease(*this, plugin, std::move(session));
      --processes_;
    }
    if (processes_ >= options_.processes_max) {
      return tl::unexpected(PluginFailure{
          FailureKind::NotStarted, plugin.program.pack, std::string(method),
          fmt::format("{} processes of plugins run already", options_.processes_max)});
    }
    ++processes_;
  }
  auto session = Session::start(launcher_, plugin.program, options_.session, *schema_);
  const std::lock_guard lock(mutex_);
  if (!session) {
    --processes_;
    return tl::unexpected(std::move(session.error()));
  }
  plugin.capabilities = std::make_unique<Capabilities>((*session)->capabilities());
  return Lease(*this, plugin, std::move(*session));
}

void PluginHost::give_back(Plugin& plugin, std::unique_ptr<Session> session) {
  {
    const std::lock_guard lock(mutex_);
    if (session->is_idle() && plugin.idle.size() < options_.idle_max) {
      plugin.idle.push_back(std::move(session));
      return;
    }
    --processes_;
  }
  session->close();
}

void PluginHost::close_idle() {
  std::vector<std::unique_ptr<Session>> ending;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& plugin : plugins_) {
      processes_ -= plugin->idle.size();
      std::move(plugin->idle.begin(), plugin->idle.end(), std::back_inserter(ending));
      plugin->idle.clear();
    }
  }
  for (const auto& session : ending) session->close();
}

// One answer for each plugin that has the method, in their order.
template <typename T>
PluginHost::Answers<std::vector<T>> PluginHost::ask_all(std::string_view method,
                                                        const Ask<T>& ask) {
  std::vector<std::optional<PluginResult<T>>> results(plugins_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < plugins_.size(); i = next++) {
      Plugin& plugin = *plugins_[i];
      if (!method.empty() && !may_have(plugin, method)) continue;
      PluginResult<Lease> session = lease(plugin, method.empty() ? "start" : method);
      if (!session) {
        results[i] = tl::unexpected(std::move(session.error()));
      } else if (method.empty() || (*session)->capabilities().has_method(method)) {
        results[i] = ask(**session);
      }
    }
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(options_.parallel_max, plugins_.size()); ++i) {
    helpers.emplace_back([&] {
      log::name_thread("plugin-call");
      work();
    });
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  Answers<std::vector<T>> answers;
  for (std::optional<PluginResult<T>>& result : results) {
    if (!result) continue;
    if (*result) {
      answers.value.push_back(std::move(**result));
    } else {
      answers.failures.push_back(std::move(result->error()));
    }
  }
  return answers;
}

std::vector<PluginFailure> PluginHost::check_all(Cancel) {
  return ask_all<bool>("", [](Session&) -> PluginResult<bool> { return true; }).failures;
}

PluginHost::Answers<std::vector<model::Operation>> PluginHost::update_model(
    const SnapshotPtr& model, Cancel cancel) {
  const auto ask = [&](Session& session) -> PluginResult<std::vector<model::Operation>> {
    CallServices services(
        {.model = model, .may_write = true, .view = view_source(model, cancel, 1)});
    PluginResult<Json> answer =
        session.call("update_model", {{"model", model->revision()}}, services,
                     {.timeout = options_.call_timeout, .cancelled = cancel});
    if (!answer) return tl::unexpected(std::move(answer.error()));
    return services.take_writes();
  };
  auto all = ask_all<std::vector<model::Operation>>("update_model", ask);
  Answers<std::vector<model::Operation>> merged{{}, std::move(all.failures)};
  for (auto& operations : all.value) {
    std::move(operations.begin(), operations.end(), std::back_inserter(merged.value));
  }
  return merged;
}

PluginResult<std::vector<ModelFinding>> PluginHost::ask_findings(Session& session,
                                                                 const SnapshotPtr& model,
                                                                 Cancel cancel) {
  constexpr std::string_view kMethod = "validate_model";
  CallServices services({.model = model, .view = view_source(model, cancel, 1)});
  PluginResult<Json> answer = session.call(kMethod, {{"model", model->revision()}}, services,
                                           {.timeout = options_.call_timeout, .cancelled = cancel});
  if (!answer) return tl::unexpected(std::move(answer.error()));
  const auto errors = answer->is_object() ? answer->find("errors") : answer->end();
  if (!answer->is_object() || errors == answer->end() || !errors->is_array()) {
    return tl::unexpected(garbage(session, kMethod, "answered without a list 'errors'"));
  }
  std::vector<ModelFinding> findings;
  for (const Json& error : *errors) {
    if (findings.size() == kFindingsMax) break;
    const bool shaped = error.is_object() && error.contains("path") && error["path"].is_string() &&
                        error.contains("message") && error["message"].is_string();
    if (!shaped) {
      return tl::unexpected(
          garbage(session, kMethod,
                  fmt::format("an error has a text 'path' and a text 'message'; it sent {}",
                              excerpt(dump_json(error)))));
    }
    Result<model::Path> path = model::Path::parse(error["path"].get<std::string>());
    if (!path) return tl::unexpected(garbage(session, kMethod, path.error().message));
    const auto property = error.find("property");
    findings.push_back({session.program().pack, std::move(*path),
                        property != error.end() && property->is_string()
                            ? property->get<std::string>()
                            : std::string(),
                        error["message"].get<std::string>()});
  }
  return findings;
}

PluginHost::Answers<std::vector<ModelFinding>> PluginHost::validate_model(const SnapshotPtr& model,
                                                                          Cancel cancel) {
  auto all = ask_all<std::vector<ModelFinding>>(
      "validate_model", [&](Session& session) { return ask_findings(session, model, cancel); });
  Answers<std::vector<ModelFinding>> merged{{}, std::move(all.failures)};
  for (auto& findings : all.value) {
    std::move(findings.begin(), findings.end(), std::back_inserter(merged.value));
  }
  return merged;
}

PluginResult<std::vector<plan::Task>> PluginHost::ask_tasks(Session& session,
                                                            const SnapshotPtr& model,
                                                            Cancel cancel) {
  constexpr std::string_view kMethod = "create_configuration";
  TaskDecoder decoder(session.program().pack, *model, session.capabilities().callbacks,
                      options_.tasks);
  CallServices services({.model = model, .tasks = &decoder, .view = view_source(model, cancel, 1)});
  PluginResult<Json> answer = session.call(kMethod, {{"model", model->revision()}}, services,
                                           {.timeout = options_.call_timeout, .cancelled = cancel});
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (!answer->is_object() || !answer->contains("tasks")) {
    return tl::unexpected(garbage(session, kMethod, "answered without a list 'tasks'"));
  }
  decoder.add(std::move((*answer)["tasks"]));
  decoder.finish();
  if (decoder.problems().empty()) return std::move(decoder).take();
  PluginFailure failed =
      session.failure(FailureKind::Garbage, kMethod,
                      decoder.wrong_tasks() == 0
                          ? std::string("the answer is not right")
                          : fmt::format("{} of {} tasks {} not right", decoder.wrong_tasks(),
                                        decoder.size(), decoder.wrong_tasks() == 1 ? "is" : "are"));
  failed.problems = decoder.problems();
  return tl::unexpected(std::move(failed));
}

PluginHost::Answers<std::vector<plan::Task>> PluginHost::create_configuration(
    const SnapshotPtr& model, Cancel cancel) {
  auto all = ask_all<std::vector<plan::Task>>(
      "create_configuration", [&](Session& session) { return ask_tasks(session, model, cancel); });
  Answers<std::vector<plan::Task>> merged{{}, std::move(all.failures)};
  for (std::vector<plan::Task>& tasks : all.value) {
    const std::size_t before = merged.value.size();
    for (plan::Task& task : tasks) {
      for (plan::Requirement& requirement : task.requirements) {
        if (auto* required = std::get_if<plan::RequiredTask>(&requirement)) {
          required->index += before;
        }
      }
    }
    std::move(tasks.begin(), tasks.end(), std::back_inserter(merged.value));
  }
  return merged;
}

PluginResult<std::vector<plan::LockPair>> PluginHost::ask_locks(
    Session& session, const SnapshotPtr& model, const std::vector<model::Path>& nodes,
    Cancel cancel) {
  constexpr std::string_view kMethod = "create_lock_tasks";
  const TaskReading reading{session.program().pack, *model, session.capabilities().callbacks,
                            options_.tasks};
  std::vector<plan::LockPair> pairs;
  std::vector<std::string> problems;
  std::size_t wrong_nodes = 0;
  for (const model::Path& node : nodes) {
    CallServices services({.model = model, .view = view_source(model, cancel, 1)});
    PluginResult<Json> answer =
        session.call(kMethod, {{"model", model->revision()}, {"node", node.text()}}, services,
                     {.timeout = options_.call_timeout, .cancelled = cancel});
    if (!answer) {
      answer.error().about = fmt::format("for {}", node.text());
      return tl::unexpected(std::move(answer.error()));
    }
    LockAnswer read = read_locks(reading, node, std::move(*answer));
    if (read.pair) pairs.push_back(std::move(*read.pair));
    wrong_nodes += read.problems.empty() ? 0 : 1;
    if (problems.size() < options_.tasks.problems_max) {
      std::move(read.problems.begin(), read.problems.end(), std::back_inserter(problems));
    }
  }
  if (problems.empty()) return pairs;
  PluginFailure failed = session.failure(
      FailureKind::Garbage, kMethod,
      fmt::format("the tasks for {} of {} nodes are not right", wrong_nodes, nodes.size()));
  failed.problems = std::move(problems);
  return tl::unexpected(std::move(failed));
}

PluginHost::Answers<std::vector<plan::LockPair>> PluginHost::create_lock_tasks(
    const SnapshotPtr& model, const std::vector<model::Path>& nodes, Cancel cancel) {
  auto all = ask_all<std::vector<plan::LockPair>>("create_lock_tasks", [&](Session& session) {
    return ask_locks(session, model, nodes, cancel);
  });
  Answers<std::vector<plan::LockPair>> merged{{}, std::move(all.failures)};
  std::map<model::Path, std::string> owners;
  for (std::vector<plan::LockPair>& pairs : all.value) {
    PluginFailure late{FailureKind::Wrong, "", "create_lock_tasks", ""};
    for (plan::LockPair& pair : pairs) {
      const auto [owner, fresh] = owners.try_emplace(pair.node, pair.lock.plugin);
      if (fresh) {
        merged.value.push_back(std::move(pair));
        continue;
      }
      late.plugin = pair.lock.plugin;
      late.problems.push_back(
          fmt::format("{}: plugin '{}' answers for it already", pair.node.text(), owner->second));
    }
    if (late.problems.empty()) continue;
    late.reason = fmt::format("answers for {} that another plugin locks",
                              late.problems.size() == 1 ? "a node" : "nodes");
    merged.failures.push_back(std::move(late));
  }
  std::sort(merged.value.begin(), merged.value.end(),
            [](const plan::LockPair& a, const plan::LockPair& b) { return a.node < b.node; });
  return merged;
}

PluginHost::Answers<model::Answers> PluginHost::check(const SnapshotPtr& model,
                                                      const std::vector<model::Question>& questions,
                                                      Cancel cancel) {
  constexpr std::string_view kMethod = "check";
  std::map<std::string, std::vector<const model::Question*>> by_pack;
  for (const model::Question& question : questions) {
    if (question.kind != model::Question::Kind::Directory) {
      by_pack[question.pack].push_back(&question);
    }
  }
  Answers<model::Answers> answers;
  for (const auto& [pack, asked] : by_pack) {
    Plugin* const plugin = find(pack);
    if (plugin == nullptr) {
      answers.failures.push_back(
          {FailureKind::NotStarted, pack, std::string(kMethod), "the pack has no plugin"});
      continue;
    }
    Json checks = Json::array();
    for (const model::Question* question : asked) {
      Json check = {{"method", question->method}, {"path", question->path.text()}};
      if (question->kind == model::Question::Kind::PluginValue) {
        check["property"] = question->property;
        check["value"] = question->value;
      } else {
        check["properties"] = question->properties;
      }
      checks.push_back(std::move(check));
    }
    PluginResult<Lease> session = lease(*plugin, kMethod);
    if (!session) {
      answers.failures.push_back(std::move(session.error()));
      continue;
    }
    CallServices services({.model = model, .view = view_source(model, cancel, 1)});
    const Json params = {{"model", model->revision()}, {"checks", std::move(checks)}};
    PluginResult<Json> answer = (*session)->call(
        kMethod, params, services, {.timeout = options_.call_timeout, .cancelled = cancel});
    if (!answer) {
      answers.failures.push_back(std::move(answer.error()));
      continue;
    }
    const auto problems = answer->is_object() ? answer->find("problems") : answer->end();
    const bool shaped = answer->is_object() && problems != answer->end() && problems->is_array() &&
                        problems->size() == asked.size() &&
                        std::all_of(problems->begin(), problems->end(),
                                    [](const Json& p) { return p.is_string(); });
    if (!shaped) {
      answers.failures.push_back(
          garbage(**session, kMethod,
                  fmt::format("must answer with {} texts in 'problems'", asked.size())));
      continue;
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      answers.value.emplace(*asked[i], (*problems)[i].get<std::string>());
    }
  }
  return answers;
}

std::function<PluginResult<Json>(const model::Path&, const std::string&)> PluginHost::view_source(
    const SnapshotPtr& model, Cancel cancel, int depth) {
  return [this, model, cancel, depth](const model::Path& item, const std::string& name) {
    return evaluate_view({model, cancel, depth}, item, name);
  };
}

PluginResult<Json> PluginHost::view(const SnapshotPtr& model, const model::Path& item,
                                    const std::string& name, Cancel cancel) {
  return evaluate_view({model, cancel, 0}, item, name);
}

PluginResult<Json> PluginHost::evaluate_view(const ViewCall& call, const model::Path& item,
                                             const std::string& name) {
  constexpr std::string_view kMethod = "view";
  const auto named = [&](PluginFailure failure) {
    failure.about = fmt::format("'{}' of {}", name, item.text());
    return tl::unexpected(std::move(failure));
  };
  const auto refuse = [&](std::string pack, std::string reason) {
    return named(PluginFailure{FailureKind::Refused, std::move(pack), std::string(kMethod),
                               std::move(reason)});
  };
  const std::int32_t row = call.model->find(item);
  if (row == Snapshot::kNone) return refuse("", fmt::format("there is no item {}", item.text()));
  const model::ItemType& type = *call.model->row(row).item->type;
  const auto view = type.views.find(name);
  if (view == type.views.end()) {
    return refuse(type.pack, fmt::format("{} (a {}) has no view {}", item.text(), type.id,
                                         model::quoted(name)));
  }
  Plugin* const plugin = find(view->second.pack);
  if (plugin == nullptr) return refuse(view->second.pack, "the pack has no plugin");
  if (call.depth >= kViewDepthMax) {
    return refuse(
        view->second.pack,
        fmt::format("views ask for views more than {} levels deep, at last for '{}' of {}",
                    kViewDepthMax, name, item.text()));
  }
  PluginResult<Lease> session = lease(*plugin, kMethod);
  if (!session) return named(std::move(session.error()));
  CallServices services(
      {.model = call.model, .view = view_source(call.model, call.cancel, call.depth + 1)});
  const Json params = {{"model", call.model->revision()},
                       {"method", view->second.method},
                       {"name", name},
                       {"path", item.text()}};
  PluginResult<Json> answer = (*session)->call(
      kMethod, params, services, {.timeout = options_.call_timeout, .cancelled = call.cancel});
  if (!answer) return named(std::move(answer.error()));
  if (!answer->is_object() || !answer->contains("value")) {
    return named(garbage(**session, kMethod, "answered without 'value'"));
  }
  return std::move((*answer)["value"]);
}

PluginResult<std::vector<model::Operation>> PluginHost::callback(const SnapshotPtr& model,
                                                                 const CallbackCall& call,
                                                                 const CallbackOptions& options) {
  constexpr std::string_view kMethod = "callback";
  Plugin* const plugin = find(call.pack);
  if (plugin == nullptr) {
    return tl::unexpected(PluginFailure{FailureKind::NotStarted, call.pack, std::string(kMethod),
                                        "the pack has no plugin"});
  }
  PluginResult<Lease> session = lease(*plugin, kMethod);
  if (!session) return tl::unexpected(std::move(session.error()));
  Result<Json> arguments = parse_json(call.arguments);
  if (!arguments) {
    return tl::unexpected(
        (*session)->failure(FailureKind::Wrong, kMethod, arguments.error().message));
  }
  CallServices services({.model = model,
                         .reveal = {call.pack},
                         .may_write = true,
                         .is_running = options.is_running,
                         .current = options.current,
                         .view = view_source(model, options.cancel, 1)});
  const Json params = {{"model", model->revision()},
                       {"item", call.item.text()},
                       {"method", call.method},
                       {"arguments", std::move(*arguments)}};
  PluginResult<Json> answer = (*session)->call(
      kMethod, params, services, {.timeout = options.timeout, .cancelled = options.cancel});
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return services.take_writes();
}

}  // namespace muster::plugin
