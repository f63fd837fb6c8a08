#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/edit.h"
#include "plugin/model_json.h"
#include "plugin/session.h"
#include "plugin/snapshot.h"
#include "plugin/task_codec.h"

namespace muster::plugin {

// What a call lets the plugin do.
struct CallScope {
  SnapshotPtr model;
  Reveal reveal = {};
  bool may_write = false;
  TaskDecoder* tasks = nullptr;               // borrowed; null: the call makes no tasks
  std::function<bool()> is_running = {};      // empty: there is no plan that could be stopped
  std::function<SnapshotPtr()> current = {};  // the model as it is by now; empty: as it was
  std::function<PluginResult<Json>(const model::Path&, const std::string& view)> view = {};
};

// Answers what a plugin asks for during one call, and keeps what it writes until the call has
// succeeded.
class CallServices : public CallHandler {
 public:
  explicit CallServices(CallScope scope) : scope_(std::move(scope)) {}

  RequestAnswer on_request(const std::string& method, Json& params) override;
  std::string on_tasks(Json&& tasks) override;
  // The writes, one update for each item, by path.
  std::vector<model::Operation> take_writes();

 private:
  RequestAnswer send_model(const Json& params);
  RequestAnswer write(const Json& params);
  RequestAnswer evaluate_view(const Json& params);
  const Snapshot& refreshed();

  CallScope scope_;
  std::map<model::Path, model::UpdateItem> writes_;
};

}  // namespace muster::plugin
