#include "plugin/task_codec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::plugin {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"config", "callback", "remote"};
constexpr std::array<std::string_view, 15> kFieldNames = {
    "kind",       "item",     "description", "model_items", "requires",  "tag",   "node",  "call",
    "attributes", "replaces", "persist",     "method",      "arguments", "nodes", "action"};

constexpr std::array<std::string_view, 6> kCommonFields = {"kind",        "item",     "description",
                                                           "model_items", "requires", "tag"};
constexpr std::array<std::string_view, 5> kConfigFields = {"node", "call", "attributes", "replaces",
                                                           "persist"};
constexpr std::array<std::string_view, 2> kCallbackFields = {"method", "arguments"};
constexpr std::array<std::string_view, 3> kRemoteFields = {"nodes", "action", "inputs"};

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "a mapping";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a text";
    case Json::value_t::boolean:
      return "a truth value";
    default:
      return "a number";
  }
}

}  // namespace

// The fields of one document. Each that is asked for is known; the others are unknown.
class TaskDecoder::Fields {
 public:
  Fields(TaskDecoder& decoder, std::size_t number, Json& document)
      : decoder_(decoder), number_(number), document_(document) {}

  template <typename... Args>
  void wrong(std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
    decoder_.problem(number_, field, fmt::format(format, std::forward<Args>(args)...));
  }

  // Null: it is not there.
  Json* get(const char* field) {
    const auto found = document_.find(field);
    if (found == document_.end()) return nullptr;
    ++known_;
    return &*found;
  }

  std::string text(const char* field, std::size_t max, bool required) {
    Json* value = get(field);
    if (value == nullptr) {
      if (required) wrong(field, "is missing; a text is needed");
      return {};
    }
    if (!value->is_string()) {
      wrong(field, "is {}; a text is needed", kind_of(*value));
      return {};
    }
    auto& text = value->get_ref<std::string&>();
    if (text.empty() && required) wrong(field, "is empty");
    if (text.size() > max) {
      wrong(field, "has {} bytes; at most {} are allowed", text.size(), max);
      return {};
    }
    return std::move(text);
  }

  // Null: it is not there, or no list that could be read.
  Json* list(const char* field) {
    Json* value = get(field);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) {
      wrong(field, "is {}; a list is needed", kind_of(*value));
      return nullptr;
    }
    if (value->size() > decoder_.limits_.list_max) {
      wrong(field, "has {} entries; at most {} are allowed", value->size(),
            decoder_.limits_.list_max);
      return nullptr;
    }
    return value;
  }

  // An item that is in the model.
  std::optional<model::Path> item(std::string_view field, const std::string& text) {
    Result<model::Path> path = model::Path::parse(text);
    if (!path) {
      wrong(field, "{}", path.error().message);
      return std::nullopt;
    }
    if (decoder_.snapshot_.find(*path) == Snapshot::kNone) {
      wrong(field, "there is no item {} in the model", model::quoted(text));
      return std::nullopt;
    }
    return std::move(*path);
  }

  std::vector<model::Path> items(const char* field) {
    std::vector<model::Path> paths;
    Json* entries = list(field);
    if (entries == nullptr) return paths;
    paths.reserve(entries->size());
    for (const Json& entry : *entries) {
      if (!entry.is_string()) {
        wrong(field, "has {}; paths of items are needed", kind_of(entry));
      } else if (auto path = item(field, entry.get_ref<const std::string&>())) {
        paths.push_back(std::move(*path));
      }
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }

  // ["package", "nginx"].
  std::optional<plan::Call> call(std::string_view field, Json& value) {
    const bool shaped =
        value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
    if (!shaped) {
      wrong(field, "must be the type and the id of a resource, as in [\"package\", \"nginx\"]");
      return std::nullopt;
    }
    plan::Call call{std::move(value[0].get_ref<std::string&>()),
                    std::move(value[1].get_ref<std::string&>())};
    if (call.type.empty() || call.id.empty()) {
      wrong(field, "neither the type nor the id of a resource may be empty");
      return std::nullopt;
    }
    const std::size_t longest = std::max(call.type.size(), call.id.size());
    if (longest > decoder_.limits_.name_max) {
      wrong(field, "has {} bytes; at most {} are allowed", longest, decoder_.limits_.name_max);
      return std::nullopt;
    }
    return call;
  }

  // Reports what nobody asked for.
  void finish() {
    if (known_ == document_.size()) return;
    for (const auto& [name, value] : document_.items()) {
      const bool exists =
          std::find(kFieldNames.begin(), kFieldNames.end(), name) != kFieldNames.end() ||
          name == "inputs";
      if (exists && is_known(name)) continue;
      if (exists) {
        wrong(name, "is no field of a task of this kind");
      } else {
        wrong(name.substr(0, 64), "is an unknown field{}", did_you_mean(name, kFieldNames));
      }
    }
  }

  void know(std::span<const std::string_view> names) { allowed_ = names; }

 private:
  bool is_known(std::string_view name) const {
    return std::find(kCommonFields.begin(), kCommonFields.end(), name) != kCommonFields.end() ||
           std::find(allowed_.begin(), allowed_.end(), name) != allowed_.end();
  }

  TaskDecoder& decoder_;
  const std::size_t number_;
  Json& document_;
  std::size_t known_ = 0;
  std::span<const std::string_view> allowed_;  // of this kind, beside those of all kinds
};

std::size_t TaskDecoder::SameResource::operator()(std::size_t task) const {
  const auto& work = std::get<plan::ConfigWork>(decoder->tasks_[task].work);
  const std::hash<std::string> hash;
  std::size_t mixed = hash(work.node.text());
  mixed = mixed * 0x9E3779B97F4A7C15U + hash(work.call.type);
  return mixed * 0x9E3779B97F4A7C15U + hash(work.call.id);
}

bool TaskDecoder::SameResource::operator()(std::size_t a, std::size_t b) const {
  const auto& left = std::get<plan::ConfigWork>(decoder->tasks_[a].work);
  const auto& right = std::get<plan::ConfigWork>(decoder->tasks_[b].work);
  return left.call == right.call && left.node == right.node;
}

TaskDecoder::TaskDecoder(std::string plugin, const Snapshot& snapshot,
                         const std::vector<std::string>& callbacks, const TaskLimits& limits)
    : plugin_(std::move(plugin)),
      snapshot_(snapshot),
      callbacks_(callbacks),
      limits_(limits),
      resources_(16, SameResource{this}, SameResource{this}) {}

void TaskDecoder::problem(std::size_t task, std::string_view field, const std::string& message) {
  if (problems_.size() >= limits_.problems_max) {
    ++unsaid_;
    return;
  }
  problems_.push_back(field.empty() ? fmt::format("task {}: {}", task, message)
                                    : fmt::format("task {}, {}: {}", task, field, message));
}

bool TaskDecoder::add(Json&& list) {
  if (!list.is_array()) {
    problem(count_, "", fmt::format("the tasks are {}; a list is needed", kind_of(list)));
    return true;
  }
  for (Json& task : list) {
    if (count_ == limits_.tasks_max) {
      problem(count_, "", fmt::format("more than {} tasks", limits_.tasks_max));
      return false;
    }
    add_one(std::move(task));
  }
  return true;
}

void TaskDecoder::add_one(Json&& document) {
  const std::size_t number = count_++;
  // Also what is wrong has its place, so that numbers stay those of the answer.
  tasks_.emplace_back();
  if (!document.is_object()) {
    problem(number, "", fmt::format("is {}; a mapping is needed", kind_of(document)));
    return;
  }
  Fields fields(*this, number, document);
  plan::Task& task = tasks_.back();
  task.plugin = plugin_;
  const std::string kind = fields.text("kind", limits_.name_max, true);
  if (const std::string item = fields.text("item", limits_.name_max, true); !item.empty()) {
    if (auto path = fields.item("item", item)) task.item = std::move(*path);
  }
  task.description = fields.text("description", limits_.description_max, true);
  task.tag = fields.text("tag", limits_.name_max, false);
  task.model_items = fields.items("model_items");
  decode_requirements(fields, task);
  if (kind == "config") {
    decode_config(fields, task);
  } else if (kind == "callback") {
    decode_callback(fields, task);
  } else if (kind == "remote") {
    decode_remote(fields, task);
  } else if (!kind.empty()) {
    fields.wrong("kind", "{} is none of config, callback and remote{}", model::quoted(kind),
                 did_you_mean(kind, kKinds));
    return;
  }
  fields.finish();
}

model::Path TaskDecoder::node_path(Fields& fields, const char* field, const std::string& text) {
  std::optional<model::Path> path = fields.item(field, text);
  if (!path) return {};
  if (text == last_node_) return std::move(*path);
  const model::Item& item = *snapshot_.row(snapshot_.find(*path)).item;
  if (item.is_collection() || !(item.type->is_a("node") || item.type->is_a("ms"))) {
    fields.wrong(field, "{} is of type {}; a node or the management server is needed",
                 model::quoted(text), model::quoted(item.type->id));
    return {};
  }
  last_node_ = text;
  return std::move(*path);
}

void TaskDecoder::decode_config(Fields& fields, plan::Task& task) {
  fields.know(kConfigFields);
  plan::ConfigWork work;
  const std::string node = fields.text("node", limits_.name_max, true);
  if (!node.empty()) work.node = node_path(fields, "node", node);
  bool whole = !node.empty();
  if (Json* call = fields.get("call")) {
    if (auto read = fields.call("call", *call)) {
      work.call = std::move(*read);
    } else {
      whole = false;
    }
  } else {
    fields.wrong("call", "is missing; the type and the id of a resource are needed");
    whole = false;
  }
  work.attributes = decode_arguments(fields, "attributes", task);
  if (Json* replaces = fields.list("replaces")) {
    for (Json& entry : *replaces) {
      if (auto call = fields.call("replaces", entry)) work.replaces.push_back(std::move(*call));
    }
    std::sort(work.replaces.begin(), work.replaces.end());
    work.replaces.erase(std::unique(work.replaces.begin(), work.replaces.end()),
                        work.replaces.end());
  }
  if (Json* persist = fields.get("persist")) {
    if (persist->is_boolean()) {
      work.persist = persist->get<bool>();
    } else {
      fields.wrong("persist", "is {}; true or false is needed", kind_of(*persist));
    }
  }
  task.work = std::move(work);
  if (!whole) return;
  const std::size_t number = tasks_.size() - 1;
  const auto [first, fresh] = resources_.insert(number);
  if (fresh) return;
  const auto& made = std::get<plan::ConfigWork>(task.work);
  fields.wrong("call", "task {} has the resource {} {} of {} already", *first,
               model::quoted(made.call.type), model::quoted(made.call.id), made.node.text());
}

void TaskDecoder::decode_callback(Fields& fields, plan::Task& task) {
  fields.know(kCallbackFields);
  plan::CallbackWork work;
  work.method = fields.text("method", limits_.name_max, true);
  const bool known =
      std::find(callbacks_.begin(), callbacks_.end(), work.method) != callbacks_.end();
  if (!known && !work.method.empty()) {
    const std::vector<std::string_view> names(callbacks_.begin(), callbacks_.end());
    fields.wrong("method", "the plugin names no callback {}{}", model::quoted(work.method),
                 did_you_mean(work.method, names));
  }
  work.arguments = decode_arguments(fields, "arguments", task);
  task.work = std::move(work);
}

void TaskDecoder::decode_remote(Fields& fields, plan::Task& task) {
  fields.know(kRemoteFields);
  plan::RemoteWork work;
  if (Json* nodes = fields.list("nodes")) {
    for (const Json& node : *nodes) {
      if (!node.is_string()) {
        fields.wrong("nodes", "has {}; paths of nodes are needed", kind_of(node));
        continue;
      }
      work.nodes.push_back(node_path(fields, "nodes", node.get<std::string>()));
    }
    if (nodes->empty()) fields.wrong("nodes", "is empty; at least one node is needed");
  } else if (fields.get("nodes") == nullptr) {
    fields.wrong("nodes", "is missing; a list of nodes is needed");
  }
  std::sort(work.nodes.begin(), work.nodes.end());
  work.nodes.erase(std::unique(work.nodes.begin(), work.nodes.end()), work.nodes.end());
  work.action = fields.text("action", limits_.name_max, true);
  work.inputs = decode_arguments(fields, "inputs", task);
  task.work = std::move(work);
}

void TaskDecoder::decode_requirements(Fields& fields, plan::Task& task) {
  Json* list = fields.list("requires");
  if (list == nullptr) return;
  task.requirements.reserve(list->size());
  for (Json& entry : *list) {
    const bool shaped = entry.is_object() && entry.size() == 1;
    const std::string key = shaped ? entry.begin().key() : "";
    Json* value = shaped ? &entry.begin().value() : nullptr;
    if (key == "task" && value->is_number_integer() && *value >= 0) {
      task.requirements.push_back(plan::RequiredTask{value->get<std::size_t>()});
    } else if (key == "item" && value->is_string()) {
      if (auto path = fields.item("requires", value->get_ref<const std::string&>())) {
        task.requirements.push_back(plan::RequiredItem{std::move(*path)});
      }
    } else if (key == "call") {
      if (auto call = fields.call("requires", *value)) {
        task.requirements.push_back(plan::RequiredCall{std::move(*call)});
      }
    } else {
      fields.wrong("requires",
                   "an entry must be {{\"task\": NUMBER}}, {{\"item\": PATH}} or "
                   "{{\"call\": [TYPE, ID]}}");
    }
  }
}

std::string TaskDecoder::decode_arguments(Fields& fields, const char* field, plan::Task& task) {
  Json* value = fields.get(field);
  if (value == nullptr) return "{}";
  if (!value->is_object()) {
    fields.wrong(field, "is {}; a mapping is needed", kind_of(*value));
    return "{}";
  }
  if (!check_values(fields, field, *value, 1, task)) return "{}";
  std::string text = dump_json(*value);
  if (text.size() > limits_.arguments_bytes_max) {
    fields.wrong(field, "has {} bytes; at most {} are allowed", text.size(),
                 limits_.arguments_bytes_max);
    return "{}";
  }
  return text;
}

bool TaskDecoder::check_values(Fields& fields, const char* field, const Json& value,
                               std::size_t depth, plan::Task& task) {
  if (!value.is_structured()) return true;
  if (depth > limits_.arguments_depth_max) {
    fields.wrong(field, "is nested more than {} levels deep", limits_.arguments_depth_max);
    return false;
  }
  if (value.is_object()) {
    if (const auto future = value.find("$future"); future != value.end()) {
      task.has_future = true;
      if (value.size() != 1) fields.wrong(field, "'$future' stands alone in its mapping");
      check_future(fields, field, *future);
      return true;
    }
  }
  return std::all_of(value.begin(), value.end(), [&](const Json& inner) {
    return check_values(fields, field, inner, depth + 1, task);
  });
}

void TaskDecoder::check_future(Fields& fields, const char* field, const Json& future) {
  const bool shaped = future.is_object() && future.size() == 2 && future.contains("item") &&
                      future.contains("property") && future["item"].is_string() &&
                      future["property"].is_string();
  if (!shaped) {
    fields.wrong(field, "'$future' has a text 'item' and a text 'property'");
    return;
  }
  const auto path = fields.item(field, future["item"].get_ref<const std::string&>());
  if (!path) return;
  const auto& name = future["property"].get_ref<const std::string&>();
  const model::ItemType& type = *snapshot_.row(snapshot_.find(*path)).item->type;
  if (type.views.contains(name)) return;
  const model::Property* const property = type.find_property(name);
  if (property == nullptr) {
    fields.wrong(field, "a future names {}, which {} (a {}) does not have", model::quoted(name),
                 path->text(), type.id);
  } else if (!property->definition.plugin_may_update && !property->definition.secret) {
    fields.wrong(field,
                 "a future names {} of {}, whose value is known now; only a view, a property that "
                 "plugins write or a secret can be one",
                 model::quoted(name), path->text());
  }
}

void TaskDecoder::finish() {
  for (std::size_t number = 0; number < tasks_.size(); ++number) {
    for (const plan::Requirement& requirement : tasks_[number].requirements) {
      const auto* required = std::get_if<plan::RequiredTask>(&requirement);
      if (required == nullptr) continue;
      if (required->index >= tasks_.size()) {
        problem(
            number, "requires",
            fmt::format("there is no task {}; the answer has {}", required->index, tasks_.size()));
      } else if (required->index == number) {
        problem(number, "requires", "a task cannot require itself");
      }
    }
  }
  if (unsaid_ > 0) {
    problems_.push_back(fmt::format("and {} more", unsaid_));
    unsaid_ = 0;
  }
}

}  // namespace muster::plugin
