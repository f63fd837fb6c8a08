#include "plugin/task_codec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/nearest.h"
#include "model/quoted.h"
#include "plugin/message.h"

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

// A field of a document, or one entry of a list there.
struct Where {
  // NOLINTNEXTLINE(google-explicit-constructor): most problems are about whole fields.
  Where(std::string_view name) : field(name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Where(const char* name) : field(name) {}
  Where(std::string_view name, std::size_t number) : field(name), entry(number) {}

  std::string text() const {
    return entry ? fmt::format("{}[{}]", field, *entry) : std::string(field);
  }

  std::string_view field;
  std::optional<std::size_t> entry = {};
};

std::string shown(const Json& value) { return excerpt(dump_json(value)); }

// "'Install nginx', for /ms/items/nginx, config package nginx", as far as it is known.
std::string told_by(std::string_view description, std::string_view item, const plan::Work& work) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!description.empty()) add(model::quoted(description));
  if (!item.empty()) add(fmt::format("for {}", item));
  if (const auto* config = std::get_if<plan::ConfigWork>(&work)) {
    if (!config->call.id.empty()) add(fmt::format("{} {}", config->call.type, config->call.id));
  } else if (const auto* callback = std::get_if<plan::CallbackWork>(&work)) {
    if (!callback->method.empty()) add(fmt::format("callback {}", callback->method));
  } else {
    const auto& remote = std::get<plan::RemoteWork>(work);
    if (!remote.action.empty()) add(fmt::format("action {}", remote.action));
  }
  return text;
}

}  // namespace

// The fields of one document. Each that is asked for is known; the others are unknown.
class TaskDecoder::Fields {
 public:
  Fields(TaskDecoder& decoder, std::size_t number, Json& document)
      : decoder_(decoder), number_(number), document_(document) {}

  template <typename... Args>
  void wrong(const Where& where, fmt::format_string<Args...> format, Args&&... args) {
    problems_.emplace_back(where.text(), fmt::format(format, std::forward<Args>(args)...));
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
  std::optional<model::Path> item(const Where& where, const std::string& text) {
    Result<model::Path> path = model::Path::parse(text);
    if (!path) {
      wrong(where, "{}", path.error().message);
      return std::nullopt;
    }
    if (decoder_.snapshot_.find(*path) == Snapshot::kNone) {
      wrong(where, "there is no item {} in the model", model::quoted(text));
      return std::nullopt;
    }
    return std::move(*path);
  }

  std::vector<model::Path> items(const char* field) {
    std::vector<model::Path> paths;
    Json* entries = list(field);
    if (entries == nullptr) return paths;
    paths.reserve(entries->size());
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const Json& entry = (*entries)[i];
      if (!entry.is_string()) {
        wrong({field, i}, "is {}; the path of an item is needed", shown(entry));
      } else if (auto path = item({field, i}, entry.get_ref<const std::string&>())) {
        paths.push_back(std::move(*path));
      }
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }

  // ["package", "nginx"].
  std::optional<plan::Call> call(const Where& where, Json& value) {
    const bool shaped =
        value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
    if (!shaped) {
      wrong(where,
            "is {}; it must be the type and the id of a resource, as in "
            "[\"package\", \"nginx\"]",
            shown(value));
      return std::nullopt;
    }
    plan::Call call{std::move(value[0].get_ref<std::string&>()),
                    std::move(value[1].get_ref<std::string&>())};
    if (call.type.empty() || call.id.empty()) {
      wrong(where, "is [{}, {}]; neither the type nor the id of a resource may be empty",
            model::quoted(call.type), model::quoted(call.id));
      return std::nullopt;
    }
    const std::size_t longest = std::max(call.type.size(), call.id.size());
    if (longest > decoder_.limits_.name_max) {
      wrong(where, "has {} bytes; at most {} are allowed", longest, decoder_.limits_.name_max);
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
        wrong(std::string_view(name), "is no field of a task of this kind");
      } else {
        wrong(std::string_view(name).substr(0, 64), "is an unknown field{}",
              did_you_mean(name, kFieldNames));
      }
    }
  }

  void know(std::span<const std::string_view> names) { allowed_ = names; }

  // What has been found wrong, with the name of the task as far as it could be read.
  void tell(const plan::Task& task) const {
    if (problems_.empty()) return;
    const auto left = [&](const char* field) -> std::string {
      const auto found = document_.find(field);
      return found != document_.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const std::string named =
        told_by(task.description.empty() ? left("description") : task.description,
                has_item_ ? task.item.text() : left("item"), task.work);
    for (const auto& [field, message] : problems_) decoder_.tell(number_, named, field, message);
  }

  void read_item(plan::Task& task) {
    std::string text_of_it = text("item", decoder_.limits_.name_max, true);
    if (text_of_it.empty()) return;
    if (auto path = item("item", text_of_it)) {
      task.item = std::move(*path);
      has_item_ = true;
    } else {
      document_["item"] = std::move(text_of_it);  // for tell()
    }
  }

 private:
  bool is_known(std::string_view name) const {
    return std::find(kCommonFields.begin(), kCommonFields.end(), name) != kCommonFields.end() ||
           std::find(allowed_.begin(), allowed_.end(), name) != allowed_.end();
  }

  TaskDecoder& decoder_;
  const std::size_t number_;
  Json& document_;
  std::size_t known_ = 0;
  bool has_item_ = false;
  std::vector<std::pair<std::string, std::string>> problems_;  // field, and what is wrong
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

std::string TaskDecoder::title(std::size_t number) const {
  return number < titles_.size() ? titles_[number] : fmt::format("task {}", number);
}

// REQUIRES: it has been read.
std::string TaskDecoder::named(std::size_t number) const {
  const plan::Task& task = tasks_[number];
  // Where none could be read it is the root, which would only mislead.
  const bool has_item = task.item != model::Path();
  return told_by(task.description, has_item ? task.item.text() : std::string(), task.work);
}

void TaskDecoder::tell(std::size_t task, const std::string& named, std::string_view field,
                       std::string_view message) {
  if (wrong_.size() <= task) wrong_.resize(task + 1);
  if (!wrong_[task]) {
    wrong_[task] = true;
    ++wrong_count_;
  }
  std::string text = title(task);
  if (!named.empty()) text += fmt::format(" ({})", named);
  if (!field.empty()) text += fmt::format(", {}", field);
  tell_of_answer(fmt::format("{}: {}", text, message));
}

void TaskDecoder::tell_of_answer(std::string message) {
  if (problems_.size() >= limits_.problems_max) {
    ++unsaid_;
    return;
  }
  problems_.push_back(std::move(message));
}

void TaskDecoder::add_problem(std::size_t task, std::string_view field,
                              const std::string& message) {
  tell(task, named(task), field, message);
}

bool TaskDecoder::add(Json&& list) {
  if (!list.is_array()) {
    tell_of_answer(fmt::format("the tasks are {}; a list is needed", shown(list)));
    return true;
  }
  for (Json& task : list) {
    if (count_ == limits_.tasks_max) {
      tell_of_answer(fmt::format("more than {} tasks", limits_.tasks_max));
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
    tell(number, "", "", fmt::format("is {}; a mapping is needed", shown(document)));
    return;
  }
  Fields fields(*this, number, document);
  plan::Task& task = tasks_.back();
  task.plugin = plugin_;
  decode(fields, task);
  fields.tell(task);
}

void TaskDecoder::decode(Fields& fields, plan::Task& task) {
  const std::string kind = fields.text("kind", limits_.name_max, true);
  fields.read_item(task);
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

model::Path TaskDecoder::node_path(Fields& fields, const char* field,
                                   std::optional<std::size_t> entry, const std::string& text) {
  const Where where = entry ? Where(field, *entry) : Where(field);
  std::optional<model::Path> path = fields.item(where, text);
  if (!path) return {};
  if (text == last_node_) return std::move(*path);
  const model::Item& item = *snapshot_.row(snapshot_.find(*path)).item;
  if (item.is_collection() || !(item.type->is_a("node") || item.type->is_a("ms"))) {
    fields.wrong(where, "{} is of type {}; a node or the management server is needed",
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
  if (!node.empty()) work.node = node_path(fields, "node", {}, node);
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
    for (std::size_t i = 0; i < replaces->size(); ++i) {
      if (auto call = fields.call({"replaces", i}, (*replaces)[i])) {
        work.replaces.push_back(std::move(*call));
      }
    }
    std::sort(work.replaces.begin(), work.replaces.end());
    work.replaces.erase(std::unique(work.replaces.begin(), work.replaces.end()),
                        work.replaces.end());
  }
  if (Json* persist = fields.get("persist")) {
    if (persist->is_boolean()) {
      work.persist = persist->get<bool>();
    } else {
      fields.wrong("persist", "is {}; true or false is needed", shown(*persist));
    }
  }
  task.work = std::move(work);
  if (!whole) return;
  const std::size_t number = tasks_.size() - 1;
  const auto [first, fresh] = resources_.insert(number);
  if (fresh) return;
  const auto& made = std::get<plan::ConfigWork>(task.work);
  fields.wrong("call", "{} ({}) has the resource {} {} of {} already", title(*first), named(*first),
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
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      const Json& node = (*nodes)[i];
      if (!node.is_string()) {
        fields.wrong({"nodes", i}, "is {}; the path of a node is needed", shown(node));
        continue;
      }
      work.nodes.push_back(node_path(fields, "nodes", i, node.get<std::string>()));
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
  for (std::size_t i = 0; i < list->size(); ++i) {
    Json& entry = (*list)[i];
    const Where where("requires", i);
    const bool shaped = entry.is_object() && entry.size() == 1;
    const std::string key = shaped ? entry.begin().key() : "";
    Json* value = shaped ? &entry.begin().value() : nullptr;
    if (key == "task" && value->is_number_integer() && *value >= 0) {
      task.requirements.push_back(plan::RequiredTask{value->get<std::size_t>()});
    } else if (key == "item" && value->is_string()) {
      if (auto path = fields.item(where, value->get_ref<const std::string&>())) {
        task.requirements.push_back(plan::RequiredItem{std::move(*path)});
      }
    } else if (key == "call") {
      if (auto call = fields.call(where, *value)) {
        task.requirements.push_back(plan::RequiredCall{std::move(*call)});
      }
    } else {
      fields.wrong(where,
                   "is {}; an entry must be {{\"task\": NUMBER}}, {{\"item\": PATH}} or "
                   "{{\"call\": [TYPE, ID]}}",
                   shown(entry));
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
        add_problem(number, "requires",
                    fmt::format("there is no task {}; the answer has {}, counted from 0",
                                required->index, tasks_.size()));
      } else if (required->index == number) {
        add_problem(number, "requires", "a task cannot require itself");
      }
    }
  }
  if (unsaid_ > 0) {
    problems_.push_back(fmt::format("and {} more", unsaid_));
    unsaid_ = 0;
  }
}

}  // namespace muster::plugin
