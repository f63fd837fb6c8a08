#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/edit.h"
#include "plan/task.h"
#include "plugin/failure.h"
#include "plugin/session.h"
#include "plugin/snapshot.h"
#include "plugin/task_codec.h"

namespace muster::plugin {

struct HostOptions {
  SessionOptions session;
  TaskLimits tasks;
  Duration call_timeout = Duration::seconds(60);
  std::size_t parallel_max = 4;    // plugins that are called at the same time
  std::size_t idle_max = 2;        // processes of one plugin that wait for the next call
  std::size_t processes_max = 64;  // of all plugins together
};

// Something that a plugin finds wrong with the model.
struct ModelFinding {
  std::string plugin;
  model::Path path;
  std::string property;  // empty: the item itself
  std::string message;
};

// How a node is taken out of service, and put back.
struct LockPair {
  model::Path node;
  plan::Task lock;
  plan::Task unlock;
};

struct CallbackCall {
  std::string pack;
  model::Path item;
  std::string method;
  std::string arguments = "{}";  // of the task, with futures in place
};

// Calls the plugins of all packs. Any thread may use it, and each call blocks the thread that makes
// it until the answer is there or the deadline has passed; an engine hands calls to workers.
// Processes are started when they are needed and kept for a while; one that misbehaves is killed,
// named in the failure, and started again for the next call.
//
// Where several plugins are called, they are called at the same time, all failures are told, and
// answers stand in the order of the packs, whoever was first.
class PluginHost {
 public:
  // `programs`: packs that have a plugin, each after what it needs.
  PluginHost(std::vector<Program> programs, model::SchemaPtr schema, HostOptions options);
  ~PluginHost();
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  // Set to true by any thread, ends a call early: the plugin is killed. May be null.
  using Cancel = const std::atomic<bool>*;

  template <typename T>
  struct Answers {
    T value;
    std::vector<PluginFailure> failures;  // with any, `value` is not to be used

    bool good() const { return failures.empty(); }
  };

  // Starts every plugin once, so that what is wrong with one is known before it is needed.
  std::vector<PluginFailure> check_all(Cancel cancel = nullptr);

  // Edits that plugins ask for, to be made as Actor::Plugin.
  Answers<std::vector<model::Operation>> update_model(const SnapshotPtr& model,
                                                      Cancel cancel = nullptr);
  Answers<std::vector<ModelFinding>> validate_model(const SnapshotPtr& model,
                                                    Cancel cancel = nullptr);
  // Tasks of all plugins in one list; their required tasks are numbers in that list.
  Answers<std::vector<plan::Task>> create_configuration(const SnapshotPtr& model,
                                                        Cancel cancel = nullptr);
  // Of the nodes for which a plugin knows. Two plugins for one node are a failure of the second.
  Answers<std::vector<LockPair>> create_lock_tasks(const SnapshotPtr& model,
                                                   const std::vector<model::Path>& nodes,
                                                   Cancel cancel = nullptr);
  // Answers the questions that are for plugins; others are left alone.
  Answers<model::Answers> check(const SnapshotPtr& model,
                                const std::vector<model::Question>& questions,
                                Cancel cancel = nullptr);
  // The value of a view of an item.
  PluginResult<Json> view(const SnapshotPtr& model, const model::Path& item,
                          const std::string& name, Cancel cancel = nullptr);

  struct CallbackOptions {
    Duration timeout = Duration::hours(1);
    std::function<bool()> is_running = {};      // false: the plan is being stopped
    std::function<SnapshotPtr()> current = {};  // the model as it is by now
    Cancel cancel = nullptr;
  };
  // Edits that the callback asks for, once it has succeeded.
  PluginResult<std::vector<model::Operation>> callback(const SnapshotPtr& model,
                                                       const CallbackCall& call,
                                                       const CallbackOptions& options);

  // Ends the processes that wait for calls. For a quiet time.
  void close_idle();

 private:
  struct Plugin {
    Program program;
    std::vector<std::unique_ptr<Session>> idle;  // protected by mutex_
    // What it said when it was last started; null: it never was. Protected by mutex_.
    std::unique_ptr<Capabilities> capabilities;
  };
  struct ViewCall {
    const SnapshotPtr& model;
    Cancel cancel = nullptr;
    int depth = 0;
  };
  class Lease;
  template <typename T>
  using Ask = std::function<PluginResult<T>(Session&)>;

  Plugin* find(const std::string& pack);
  bool may_have(const Plugin& plugin, std::string_view method);
  PluginResult<Lease> lease(Plugin& plugin, std::string_view method);
  void give_back(Plugin& plugin, std::unique_ptr<Session> session);
  template <typename T>
  Answers<std::vector<T>> ask_all(std::string_view method, const Ask<T>& ask);
  PluginResult<Json> evaluate_view(const ViewCall& call, const model::Path& item,
                                   const std::string& name);
  std::function<PluginResult<Json>(const model::Path&, const std::string&)> view_source(
      const SnapshotPtr& model, Cancel cancel, int depth);
  PluginResult<std::vector<plan::Task>> ask_tasks(Session& session, const SnapshotPtr& model,
                                                  Cancel cancel);
  PluginResult<std::vector<LockPair>> ask_locks(Session& session, const SnapshotPtr& model,
                                                const std::vector<model::Path>& nodes,
                                                Cancel cancel);
  PluginResult<std::vector<ModelFinding>> ask_findings(Session& session, const SnapshotPtr& model,
                                                       Cancel cancel);

  const model::SchemaPtr schema_;
  const HostOptions options_;
  Launcher launcher_;
  std::vector<std::unique_ptr<Plugin>> plugins_;  // the list is constant
  std::mutex mutex_;
  std::size_t processes_ = 0;  // protected by mutex_
};

}  // namespace muster::plugin
