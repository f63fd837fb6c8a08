#include "plugin/kit.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "os/clock.h"
#include "plugin/kit_fingerprint.h"
#include "plugin/kit_model.h"
#include "plugin/services.h"

namespace muster::plugin {
namespace {

// How often a callback is told that the plan runs, before it is told that it is being stopped.
constexpr int kRunningAnswers = 2;

std::string joined(const std::vector<std::string>& texts) {
  std::string made;
  for (const std::string& text : texts) made += (made.empty() ? "" : "; ") + text;
  return made;
}

// What is wrong, one mistake a line.
std::vector<std::string> failures_of(const std::vector<PluginFailure>& failures) {
  std::vector<std::string> texts;
  for (const PluginFailure& failure : failures) {
    texts.push_back(failure.headline());
    texts.insert(texts.end(), failure.problems.begin(), failure.problems.end());
  }
  return texts;
}

std::vector<std::string> if_any(std::string wrong) {
  return wrong.empty() ? std::vector<std::string>() : std::vector{std::move(wrong)};
}

class Kit {
 public:
  Kit(const KitRequest& request, const std::function<void(const KitResult&)>& each)
      : request_(request),
        each_(each),
        options_(watched(request.options)),
        tested_({program()}, request.schema, options_),
        other_({program()}, request.schema, options_),
        all_(request.programs, request.schema, options_) {}

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
    same_elsewhere();
    cancel(models[0]);
    uncalled_callbacks();
    leaves_nothing_behind();
    return std::move(results_);
  }

 private:
  // What was answered for a model in a state, to be asked for again.
  struct Asked {
    std::string name;
    SnapshotPtr model;
    std::vector<Json> tasks;
    std::vector<model::Path> nodes;
    std::vector<Json> locks;
  };

  HostOptions watched(HostOptions options) {
    options.session.on_left_behind = [this](const std::string& pack,
                                            const std::vector<std::string>& processes) {
      if (pack != request_.pack) return;
      const std::lock_guard lock(left_mutex_);
      left_.insert(left_.end(), processes.begin(), processes.end());
    };
    return options;
  }

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
  bool judge(const std::string& name, const std::vector<std::string>& wrong,
             std::string note = {}) {
    if (wrong.empty()) tell(name, KitVerdict::Passed, std::move(note));
    for (const std::string& mistake : wrong) tell(name, KitVerdict::Failed, mistake);
    return wrong.empty();
  }
  bool judge(const std::string& name, const std::string& wrong, std::string note = {}) {
    return judge(name, if_any(wrong), std::move(note));
  }

  PluginResult<std::unique_ptr<Session>> start() {
    return Session::start(launcher_, program(), options_.session, *request_.schema);
  }

  bool handshake() {
    const Duration begun = os::monotonic_now();
    auto session = start();
    const Duration took = os::monotonic_now() - begun;
    if (!session) {
      return judge("starts and agrees on the protocol", failures_of({session.error()}));
    }
    capabilities_ = (*session)->capabilities();
    probe_ = std::move(*session);
    return judge(
        "starts and agrees on the protocol", std::string(),
        fmt::format("{} ms; has {}", took.us / 1000,
                    capabilities_.methods.empty() ? "no methods" : joined(capabilities_.methods)));
  }

  // A call that must be answered with an error, after which the plugin still answers.
  void refuses(const std::string& name, const std::string& method, const Json& params,
               std::optional<int> code) {
    if (probe_ == nullptr || !probe_->is_idle()) {
      auto session = start();
      if (!session) {
        judge(name, failures_of({session.error()}));
        return;
      }
      probe_ = std::move(*session);
    }
    CallServices services({.model = snapshot(model::empty_model(*request_.schema))});
    const auto answer = probe_->call(method, params, services, {.timeout = options_.call_timeout});
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
    judge(name,
          probe_ == nullptr || probe_->close()
              ? ""
              : fmt::format("still ran {} later", format_duration(options_.session.limits.grace)));
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
    Asked asked{.name = name, .model = taken, .tasks = {}, .nodes = nodes_of(*taken), .locks = {}};
    for (const plan::Task& task : tasks.value) asked.tasks.push_back(fingerprint(task));
    same_again(asked, tested_, "the same tasks again");
    std::vector<plan::Task> all = tasks.value;
    if (capabilities_.has_method("create_lock_tasks") && !asked.nodes.empty()) {
      const auto pairs = tested_.create_lock_tasks(taken, asked.nodes);
      judge(name + ": create_lock_tasks", failures_of(pairs.failures),
            fmt::format("{} of {} nodes", pairs.value.size(), asked.nodes.size()));
      for (const plan::LockPair& pair : pairs.value) {
        asked.locks.push_back(fingerprint(pair));
        all.push_back(pair.lock);
        all.push_back(pair.unlock);
      }
    }
    views(name, taken);
    callbacks(name, taken, all);
    asked_.push_back(std::move(asked));
  }

  // What a call leaves in memory must not show in the next.
  void same_again(const Asked& asked, PluginHost& host, const std::string& test) {
    const auto again = host.create_configuration(asked.model);
    std::vector<Json> tasks;
    for (const plan::Task& task : again.value) tasks.push_back(fingerprint(task));
    judge(fmt::format("{}: {}", asked.name, test),
          again.good() ? if_any(difference(asked.tasks, tasks, "task"))
                       : failures_of(again.failures));
  }

  // Another process, which is asked in another order, must answer the same.
  void same_elsewhere() {
    std::reverse(asked_.begin(), asked_.end());
    for (const Asked& asked : asked_) {
      same_again(asked, other_, "the same tasks in another process, asked in another order");
      if (asked.locks.empty()) continue;
      const auto pairs = other_.create_lock_tasks(asked.model, asked.nodes);
      std::vector<Json> locks;
      for (const plan::LockPair& pair : pairs.value) locks.push_back(fingerprint(pair));
      judge(asked.name + ": the same locks in another process",
            pairs.good() ? if_any(difference(asked.locks, locks, "pair"))
                         : failures_of(pairs.failures));
    }
  }

  static std::vector<model::Path> nodes_of(const Snapshot& model) {
    std::vector<model::Path> nodes;
    for (std::size_t i = 0; i < model.rows().size(); ++i) {
      const model::Item& item = *model.rows()[i].item;
      if (!item.is_collection() && item.type->is_a("node")) {
        nodes.push_back(model.path(static_cast<std::int32_t>(i)));
      }
    }
    return nodes;
  }

  // Each callback that a task names, twice, as it must be one that can be repeated. There is no
  // host that it could act on, so that a refusal with a reason is as good as success. The plan runs
  // at first and is then stopped: whoever waits for something must ask, and give up.
  void callbacks(const std::string& name, const SnapshotPtr& taken,
                 const std::vector<plan::Task>& tasks) {
    std::set<std::string> methods;
    for (const plan::Task& task : tasks) {
      const auto* work = std::get_if<plan::CallbackWork>(&task.work);
      if (work == nullptr || !methods.insert(work->method).second) continue;
      called_.insert(work->method);
      Result<Json> arguments = parse_json(work->arguments);
      if (!arguments) continue;
      put_values(taken, *arguments);
      const CallbackCall call{request_.pack, task.item, work->method, dump_json(*arguments)};
      std::vector<std::string> wrong;
      std::string note;
      for (int turn = 0; turn < 2 && wrong.empty(); ++turn) {
        int asked = 0;
        const auto done =
            all_.callback(taken, call, {.timeout = options_.call_timeout, .is_running = [&asked] {
                                          return ++asked <= kRunningAnswers;
                                        }});
        if (done) {
          note = fmt::format("{} items written", done->size());
        } else if (done.error().kind == FailureKind::Refused ||
                   done.error().kind == FailureKind::Stopped) {
          note = done.error().reason;
        } else {
          wrong = failures_of({done.error()});
        }
      }
      judge(fmt::format("{}: callback '{}' for {}", name, work->method, task.item.text()), wrong,
            note);
    }
  }

  // Puts a value in the place of each future.
  void put_values(const SnapshotPtr& taken, Json& value) {
    if (!value.is_structured()) return;
    const auto future = value.is_object() ? value.find("$future") : value.end();
    if (!value.is_object() || future == value.end()) {
      for (Json& inner : value) put_values(taken, inner);
      return;
    }
    const model::Path path = *model::Path::parse((*future)["item"].get<std::string>());
    const auto property = (*future)["property"].get<std::string>();
    const model::Item& item = *taken->row(taken->find(path)).item;
    if (item.type->views.contains(property)) {
      const auto answer = all_.view(taken, path, property);
      value = answer ? *answer : Json();
    } else {
      const std::string* const found = taken->row(taken->find(path)).properties->find(property);
      value = found == nullptr ? Json() : Json(*found);
    }
  }

  void uncalled_callbacks() {
    std::vector<std::string> names;
    for (const std::string& method : capabilities_.callbacks) {
      if (!called_.contains(method)) names.push_back(method);
    }
    if (names.empty()) return;
    tell("callbacks are called", KitVerdict::Skipped,
         fmt::format("no task of these models names {}", joined(names)));
  }

  void leaves_nothing_behind() {
    probe_.reset();
    for (PluginHost* host : {&tested_, &other_, &all_}) host->close_idle();
    const std::lock_guard lock(left_mutex_);
    judge("leaves no process behind when it ends",
          left_.empty() ? std::string()
                        : fmt::format("these still ran and were killed: {}", joined(left_)));
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
              answered ? std::vector<std::string>() : failures_of({value.error()}),
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
  std::mutex left_mutex_;
  std::vector<std::string> left_;  // protected by left_mutex_
  const HostOptions options_;
  Launcher launcher_;
  PluginHost tested_;  // the plugin alone
  PluginHost other_;   // likewise, another process
  PluginHost all_;     // for what it needs of others
  Capabilities capabilities_;
  std::unique_ptr<Session> probe_;
  std::vector<KitResult> results_;
  std::vector<Asked> asked_;
  std::set<std::string> called_;  // callbacks
  std::uint64_t revision_ = 0;
};

}  // namespace

std::vector<KitResult> run_kit(const KitRequest& request,
                               const std::function<void(const KitResult&)>& each) {
  return Kit(request, each).run();
}

}  // namespace muster::plugin
