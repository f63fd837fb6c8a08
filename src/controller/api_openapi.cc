#include "controller/api_openapi.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <string>

namespace muster::controller {
namespace {

template <typename Number>
bool parse_whole(const std::string& text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

Json scalar_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // it was quoted
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  if (std::int64_t whole = 0; parse_whole(text, whole)) return whole;
  if (double real = 0; parse_whole(text, real)) return real;
  return text;
}

Json node_json(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& entry : node) object[entry.first.Scalar()] = node_json(entry.second);
      return object;
    }
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const YAML::Node& entry : node) list.push_back(node_json(entry));
      return list;
    }
    case YAML::NodeType::Scalar:
      return scalar_json(node);
    default:
      return nullptr;
  }
}

}  // namespace

Result<Json> yaml_to_json(std::string_view yaml) {
  try {
    return node_json(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& problem) {
    return fail(ErrorCode::DecodeFailed, "not YAML: {}", problem.what());
  }
}

}  // namespace muster::controller
