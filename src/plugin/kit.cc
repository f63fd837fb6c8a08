#include "plugin/kit.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "os/clock.h"
#include "plugin/kit_model.h"
#include "plugin/services.h"

namespace muster::plugin {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string made;
  for (const std::string& text : texts) made += (made.empty() ? "" : "; ") + text;
  return made;
}

std::string failures_of(const std::vector<PluginFailure>& failures) {
  std::vector<std::string> texts;
  for (const PluginFailure& failure : failures) texts.push_back(failure.message());
  return joined(texts);
}

void append_calls(Json& json, const char* field, const std::vector<plan::Call>& calls) {
  for (const plan::Call& call : calls) json[field].push_back({call.type, call.id});
}

// A task as text, to tell whether two are the same.
Json fingerprint(const plan::Task& task) {
  Json json = {{"item", task.item.text()}, {"description", task.description}, {"tag", task.tag}};
  for (const model::Path& path : task.model_items) json["model_items"].push_back(path.text());
  for (const plan::Requirement& requirement : task.requirements) {
    if (const auto* other = std::get_if<plan::RequiredTask>(&requirement)) {
      json["requires"].push_back(other->index);
    } else if (const auto* item = std::get_if<plan::RequiredItem>(&requirement)) {
      json["requires"].push_back(item->path.text());
    } else {
      append_calls(json, "requires_calls", {std::get<plan::RequiredCall>(requirement).call});
    }
  }
  if (const auto* config = std::get_if<plan::ConfigWork>(&task.work)) {
    json["work"] = {config->node.text(), config->call.type, config->call.id, config->attributes,
                    config->persist};
    append_calls(json, "replaces", config->replaces);
  } else if (const auto* callback = std::get_if<plan::CallbackWork>(&task.work)) {
    json["work"] = {callback->method, callback->arguments};
  } else {
    const auto& remote = std::get<plan::RemoteWork>(task.work);
    json["work"] = {remote.action, remote.inputs};
    for (const model::Path& node : remote.nodes) json["nodes"].push_back(node.text());
  }
  return json;
}

class Kit {
 public:
  Kit(const KitRequest& request, const std::function<void(const KitResult&)>& each)
      : request_(request),
        each_(each),
        tested_({program()}, request.schema, request.options),
        other_({program()}, request.schema, request.options),
        all_(request.programs, request.schema, request.options) {}

  std::vector<KitResult> run() && {
    if (!handshake()) return std::move(results_);
    unknown_method();
    bad_parameters();
    ends_with_its_input();
    std::vector<KitModel> models;
    models.push_back({"an empty model", model::empty_model(*request_.schema)});
    models.push_back(sample_model(request_.schema, request_.pack, all_));
    for (const KitModelFile& file : request_.models) {
      models.push_back(declared_model(file.name, request_.schema, file.declaration, all_));
    }
    for (KitModel& model : models) try_model(model);
    cancel(models[0]);
    return std::move(results_);
  }

 private:
  Program program() const {
    const auto found =
        std::find_if(request_.programs.begin(), request_.programs.end(),
                     [&](const Program& candidate) { return candidate.pack == request_.pack; });
    return found == request_.programs.end() ? Program{} : *found;
  }

  void tell(std::string name, KitVerdict verdict, std::string detail = {}) {
    results_.push_back({std::move(name), verdict, std::move(detail)});
    if (each_) each_(results_.back());
  }
  // Passed if nothing is wrong.
  bool judge(std::string name, const std::string& wrong, std::string note = {}) {
    tell(std::move(name), wrong.empty() ? KitVerdict::Passed : KitVerdict::Failed,
         wrong.empty() ? std::move(note) : wrong);
    return wrong.empty();
  }

  PluginResult<std::unique_ptr<Session>> start() {
    return Session::start(launcher_, program(), request_.options.session, *request_.schema);
  }

  bool handshake() {
    const Duration begun = os::monotonic_now();
    auto session = start();
    const Duration took = os::monotonic_now() - begun;
    if (!session) return judge("starts and agrees on the protocol", session.error().message());
    capabilities_ = (*session)->capabilities();
    probe_ = std::move(*session);
    return judge(
        "starts and agrees on the protocol", "",
        fmt::format("{} ms; has {}", took.us / 1000,
                    capabilities_.methods.empty() ? "no methods" : joined(capabilities_.methods)));
  }

  // A call that must be answered with an error, after which the plugin still answers.
  void refuses(const std::string& name, const std::string& method, const Json& params,
               std::optional<int> code) {
    if (probe_ == nullptr || !probe_->is_idle()) {
      auto session = start();
      if (!session) {
        judge(name, session.error().message());
        return;
      }
      probe_ = std::move(*session);
    }
    CallServices services({.model = snapshot(model::empty_model(*request_.schema))});
    const auto answer =
        probe_->call(method, params, services, {.timeout = request_.options.call_timeout});
    std::string wrong;
    if (answer) {
      wrong = fmt::format("answered {} with a result: {}", method, excerpt(dump_json(*answer)));
    } else if (answer.error().code == 0) {
      wrong = answer.error().message();
    } else if (code && answer.error().code != *code) {
      wrong = fmt::format("answered with code {}, not {}", answer.error().code, *code);
    } else if (!probe_->is_idle()) {
      wrong = "did not live on";
    }
    judge(name, wrong);
  }

  void unknown_method() {
    refuses("refuses a method that there is not", "no_such_method", Json::object(),
            kMethodNotFound);
  }

  void bad_parameters() {
    constexpr std::string_view kName = "refuses parameters that it cannot use";
    if (capabilities_.methods.empty()) {
      tell(std::string(kName), KitVerdict::Skipped, "it has no methods");
      return;
    }
    for (const std::string& method : capabilities_.methods) {
      refuses(fmt::format("{}: {}", kName, method), method,
              {{"model", "seven"}, {"checks", 7}, {"path", 7}, {"method", 7}, {"node", 7}},
              std::nullopt);
    }
  }

  void ends_with_its_input() {
    const std::string name = "ends when its input ends";
    judge(name, probe_ == nullptr || probe_->close()
                    ? ""
                    : fmt::format("still ran {} later",
                                  format_duration(request_.options.session.limits.grace)));
  }

  SnapshotPtr snapshot(const model::Tree& tree) {
    return std::make_shared<Snapshot>(tree, request_.schema, ++revision_);
  }

  void try_model(KitModel& model) {
    if (!model.problems.empty()) {
      judge(model.name + ": can be made", joined(model.problems));
      return;
    }
    if (!model.skipped.empty()) {
      tell(model.name + ": has every type", KitVerdict::Skipped,
           "no place or values found for " + joined(model.skipped) +
               "; give models in tests/*.yaml");
    }
    try_state(model, "new");
    set_all_states(model.tree, model::ItemState::Applied);
    try_state(model, "applied");
    set_all_states(model.tree, model::ItemState::Updated, request_.pack);
    try_state(model, "changed");
    set_all_states(model.tree, model::ItemState::ForRemoval, request_.pack);
    try_state(model, "to be removed");
  }

  void try_state(const KitModel& model, const std::string& state) {
    const std::string name = fmt::format("{}, {}", model.name, state);
    const SnapshotPtr taken = snapshot(model.tree);
    const auto updated = tested_.update_model(taken);
    if (!judge(name + ": update_model", failures_of(updated.failures),
               fmt::format("{} items written", updated.value.size()))) {
      return;
    }
    const auto findings = tested_.validate_model(taken);
    std::string found;
    for (const ModelFinding& finding : findings.value) {
      found +=
          fmt::format("{}{}: {}", found.empty() ? "" : "; ", finding.path.text(), finding.message);
    }
    judge(name + ": validate_model", failures_of(findings.failures), found);
    if (!findings.value.empty()) {
      tell(name + ": create_configuration", KitVerdict::Skipped,
           "no plan is made of a model that validate_model finds wrong");
      return;
    }
    const auto tasks = tested_.create_configuration(taken);
    if (!judge(name + ": create_configuration", failures_of(tasks.failures),
               fmt::format("{} tasks", tasks.value.size()))) {
      return;
    }
    same_again(name, taken, tasks.value);
    locks(name, model.tree, taken);
    views(name, taken);
  }

  // Another process, which knows nothing of the first, must answer the same.
  void same_again(const std::string& name, const SnapshotPtr& taken,
                  const std::vector<plan::Task>& tasks) {
    const auto again = other_.create_configuration(taken);
    std::string wrong = failures_of(again.failures);
    if (wrong.empty() && again.value.size() != tasks.size()) {
      wrong = fmt::format("{} tasks, then {}", tasks.size(), again.value.size());
    }
    for (std::size_t i = 0; wrong.empty() && i < tasks.size(); ++i) {
      const Json first = fingerprint(tasks[i]);
      const Json second = fingerprint(again.value[i]);
      if (first != second) {
        wrong = fmt::format("task {} was {}, then {}", i, dump_json(first), dump_json(second));
      }
    }
    judge(name + ": the same tasks again", wrong);
  }

  void locks(const std::string& name, const model::Tree& tree, const SnapshotPtr& taken) {
    if (!capabilities_.has_method("create_lock_tasks")) return;
    std::vector<model::Path> nodes;
    for (std::size_t i = 0; i < taken->rows().size(); ++i) {
      const model::Item& item = *taken->rows()[i].item;
      if (!item.is_collection() && item.type->is_a("node")) {
        nodes.push_back(taken->path(static_cast<std::int32_t>(i)));
      }
    }
    if (nodes.empty() || tree.size() == 0) return;
    const auto pairs = tested_.create_lock_tasks(taken, nodes);
    judge(name + ": create_lock_tasks", failures_of(pairs.failures),
          fmt::format("{} of {} nodes", pairs.value.size(), nodes.size()));
  }

  void views(const std::string& name, const SnapshotPtr& taken) {
    for (std::size_t i = 0; i < taken->rows().size(); ++i) {
      const model::Item& item = *taken->rows()[i].item;
      if (item.is_collection()) continue;
      for (const auto& [view, definition] : item.type->views) {
        if (definition.pack != request_.pack) continue;
        const model::Path path = taken->path(static_cast<std::int32_t>(i));
        const auto value = all_.view(taken, path, view);
        const bool answered = value || value.error().kind == FailureKind::Refused;
        judge(fmt::format("{}: view '{}' of {}", name, view, path.text()),
              answered ? "" : value.error().message(),
              value ? dump_json(*value) : value.error().reason);
      }
    }
  }

  void cancel(const KitModel& model) {
    if (!capabilities_.has_method("create_configuration")) return;
    const SnapshotPtr taken = snapshot(model.tree);
    std::atomic<bool> stop = true;
    tested_.create_configuration(taken, &stop);
    judge("answers after a call that was cancelled",
          failures_of(tested_.create_configuration(taken).failures));
  }

  const KitRequest& request_;
  const std::function<void(const KitResult&)>& each_;
  Launcher launcher_;
  PluginHost tested_;  // the plugin alone
  PluginHost other_;   // likewise, another process
  PluginHost all_;     // for what it needs of others
  Capabilities capabilities_;
  std::unique_ptr<Session> probe_;
  std::vector<KitResult> results_;
  std::uint64_t revision_ = 0;
};

}  // namespace

std::vector<KitResult> run_kit(const KitRequest& request,
                               const std::function<void(const KitResult&)>& each) {
  return Kit(request, each).run();
}

}  // namespace muster::plugin
