#include "plugin/kit_fingerprint.h"

#include <algorithm>

namespace muster::plugin {
namespace {

void append_calls(Json& json, const char* field, const std::vector<plan::Call>& calls) {
  for (const plan::Call& call : calls) json[field].push_back({call.type, call.id});
}

}  // namespace

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

Json fingerprint(const plan::LockPair& pair) {
  return {pair.node.text(), fingerprint(pair.lock), fingerprint(pair.unlock)};
}

std::string difference(const std::vector<Json>& first, const std::vector<Json>& second,
                       std::string_view what) {
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (first[i] != second[i]) {
      return fmt::format("{} {} was {}, then {}", what, i, dump_json(first[i]),
                         dump_json(second[i]));
    }
  }
  if (first.size() == second.size()) return {};
  return fmt::format("{} {}s, then {}", first.size(), what, second.size());
}

}  // namespace muster::plugin
