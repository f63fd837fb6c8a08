#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/path.h"

// What a plugin, or a template of a pack, asks to be done for an item of the model.

namespace muster::plan {

enum class TaskKind : std::uint8_t {
  Config,    // a resource on a node, brought to a state; may be applied again at will
  Callback,  // a method of the plugin, called by the controller
  Remote,    // an action of agents, on some nodes at once
};

// A resource of a node: no two config tasks of one node have the same.
struct Call {
  std::string type;
  std::string id;

  auto operator<=>(const Call&) const = default;
};

// Whatever has to be done before a task.
struct RequiredTask {
  std::size_t index = 0;  // among the tasks that are planned together

  bool operator==(const RequiredTask&) const = default;
};
struct RequiredItem {
  model::Path path;  // all tasks of the items at and below it

  bool operator==(const RequiredItem&) const = default;
};
struct RequiredCall {
  Call call;  // of the same node; without an id: every other resource of the type there

  bool is_of_type() const { return call.id.empty(); }

  bool operator==(const RequiredCall&) const = default;
};
using Requirement = std::variant<RequiredTask, RequiredItem, RequiredCall>;

// Arguments are kept as JSON text with sorted keys: whether two tasks ask for the same is then a
// comparison of texts. A value that is only known when the task's phase starts stands there as
// {"$future": {"item": PATH, "property": NAME}}.
struct ConfigWork {
  model::Path node;
  Call call;
  std::string attributes = "{}";
  std::vector<Call> replaces;
  bool persist = true;  // false: it is not part of what the node is held to afterwards
};
struct CallbackWork {
  std::string method;
  std::string arguments = "{}";
};
struct RemoteWork {
  std::vector<model::Path> nodes;  // sorted, none twice
  std::string action;              // a kind of agent action, such as "exec"
  std::string inputs = "{}";
};
using Work = std::variant<ConfigWork, CallbackWork, RemoteWork>;

struct Task {
  std::string plugin;  // name of the pack that it comes from
  model::Path item;
  std::string description;
  std::string tag;  // empty: the ruleset says to which group it belongs
  // Further items that are done when it is. They do not influence the order.
  std::vector<model::Path> model_items;
  std::vector<Requirement> requirements;
  Work work;
  bool has_future = false;  // some argument is only known when its phase starts

  TaskKind kind() const { return static_cast<TaskKind>(work.index()); }
};

}  // namespace muster::plan
