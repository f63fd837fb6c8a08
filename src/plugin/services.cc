#include "plugin/services.h"

#include <algorithm>
#include <memory>

#include "model/quoted.h"
#include "model/value_check.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kWritesMax = 1'000'000;

RpcError invalid(std::string message) { return {kInvalidParams, std::move(message)}; }

}  // namespace

const Snapshot& CallServices::refreshed() {
  if (scope_.current) scope_.model = scope_.current();
  return *scope_.model;
}

RequestAnswer CallServices::on_request(const std::string& method, Json& params) {
  if (method == "model") return send_model(params);
  if (method == "query") {
    auto answer = answer_query(refreshed(), params, scope_.reveal);
    if (!answer) return std::move(answer.error());
    return std::move(*answer);
  }
  if (method == "write") return write(params);
  if (method == "view") return evaluate_view(params);
  if (method == "is_running") {
    return Json{{"running", !scope_.is_running || scope_.is_running()}};
  }
  return RpcError{kMethodNotFound, fmt::format("there is no method {}; there are model, query, "
                                               "write, view and is_running",
                                               model::quoted(method))};
}

RequestAnswer CallServices::send_model(const Json& params) {
  const Snapshot& model = refreshed();
  std::vector<const model::ItemType*> types;
  if (const auto named = params.find("types"); named != params.end()) {
    auto known = named_types(model.schema(), *named);
    if (!known) return std::move(known.error());
    types = std::move(*known);
  }
  auto stream = std::make_shared<ModelStream>(scope_.model, types, scope_.reveal);
  Json result = {{"revision", model.revision()}, {"items", stream->items()}, {"root", 0}};
  return StreamAnswer{[stream] { return stream->next(); }, std::move(result)};
}

RequestAnswer CallServices::write(const Json& params) {
  if (!scope_.may_write) {
    return RpcError{kRefused,
                    "the model is read-only here; it can be written in update_model and "
                    "in callbacks"};
  }
  const auto path_text = params.find("path");
  if (path_text == params.end() || !path_text->is_string()) return invalid("'path' must be a path");
  const Result<model::Path> path = model::Path::parse(path_text->get_ref<const std::string&>());
  if (!path) return invalid(path.error().message);
  const std::int32_t row = scope_.model->find(*path);
  if (row == Snapshot::kNone) {
    return invalid(fmt::format("there is no item {}", model::quoted(path->text())));
  }
  const model::ItemType& type = *scope_.model->row(row).item->type;
  const Json set = params.value("set", Json::object());
  const Json unset = params.value("unset", Json::array());
  if (!set.is_object() || !unset.is_array()) {
    return invalid("'set' must be a mapping of properties, 'unset' a list of them");
  }
  const auto problem_of = [&](const std::string& name) -> std::string {
    const model::Property* const property = type.find_property(name);
    if (property == nullptr) {
      return fmt::format("{} (a {}) has no property {}", path->text(), type.id,
                         model::quoted(name));
    }
    if (!property->definition.plugin_may_update) {
      return fmt::format("plugins may not write '{}' of {} (a {})", name, path->text(), type.id);
    }
    return {};
  };
  for (const auto& [name, value] : set.items()) {
    if (std::string problem = problem_of(name); !problem.empty()) return invalid(problem);
    if (!value.is_string()) return invalid(fmt::format("the value of '{}' must be a text", name));
    const std::string wrong =
        model::value_problem(*type.find_property(name)->type, value.get_ref<const std::string&>());
    if (!wrong.empty()) return invalid(fmt::format("'{}' of {}: {}", name, path->text(), wrong));
  }
  for (const Json& name : unset) {
    if (!name.is_string()) return invalid("'unset' must be a list of properties");
    if (std::string problem = problem_of(name.get<std::string>()); !problem.empty()) {
      return invalid(problem);
    }
  }
  if (writes_.size() >= kWritesMax) {
    return invalid(fmt::format("one call may write at most {} items", kWritesMax));
  }
  model::UpdateItem& update = writes_[*path];
  update.path = *path;
  for (const auto& [name, value] : set.items()) {
    update.set[name] = value.get<std::string>();
    std::erase(update.unset, name);
  }
  for (const Json& name : unset) {
    const auto text = name.get<std::string>();
    update.set.erase(text);
    if (std::find(update.unset.begin(), update.unset.end(), text) == update.unset.end()) {
      update.unset.push_back(text);
    }
  }
  return Json::object();
}

RequestAnswer CallServices::evaluate_view(const Json& params) {
  const auto path_text = params.find("path");
  const auto name = params.find("name");
  if (path_text == params.end() || !path_text->is_string() || name == params.end() ||
      !name->is_string()) {
    return invalid("'path' must be a path, and 'name' the name of a view");
  }
  const Result<model::Path> path = model::Path::parse(path_text->get_ref<const std::string&>());
  if (!path) return invalid(path.error().message);
  if (!scope_.view) return RpcError{kRefused, "views cannot be asked for in this call"};
  PluginResult<Json> value = scope_.view(*path, name->get<std::string>());
  if (!value) return RpcError{kRefused, value.error().message()};
  return Json{{"value", std::move(*value)}};
}

std::string CallServices::on_tasks(Json&& tasks) {
  if (scope_.tasks == nullptr) return "sent tasks that nobody asked for";
  return scope_.tasks->add(std::move(tasks)) ? "" : scope_.tasks->problems().back();
}

std::vector<model::Operation> CallServices::take_writes() {
  std::vector<model::Operation> operations;
  operations.reserve(writes_.size());
  for (auto& [path, update] : writes_) operations.emplace_back(std::move(update));
  writes_.clear();
  return operations;
}

}  // namespace muster::plugin
