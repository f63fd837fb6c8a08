#include "model/declaration_json.h"

#include <fmt/format.h>

#include <utility>

#include "base/field_errors.h"
#include "model/path.h"

namespace muster::model {
namespace {

constexpr std::string_view kType = "type";
constexpr std::string_view kInherit = "inherit";
constexpr std::string_view kProperties = "properties";

class Reader {
 public:
  explicit Reader(std::vector<FieldError>& errors) : errors_(errors) {}

  Declaration item(const Json& json, const std::string& pointer) {
    Declaration declaration;
    if (json.is_null()) return declaration;  // an item of which nothing is said
    if (!json.is_object()) {
      refuse(pointer, fmt::format("must be an item, an object; it is {}", type_of(json)));
      return declaration;
    }
    for (const auto& [key, value] : json.items()) {
      const std::string below = pointer_to_field(pointer, key);
      if (key == kType) {
        declaration.type = text(value, below);
      } else if (key == kInherit) {
        declaration.inherit = path(value, below);
      } else if (key == kProperties) {
        declaration.properties = properties(value, below);
      } else if (const std::string problem = item_id_problem(key); !problem.empty()) {
        refuse(below, problem);
      } else {
        declaration.children.emplace(key, item(value, below));
      }
    }
    return declaration;
  }

 private:
  std::optional<std::string> text(const Json& value, const std::string& pointer) {
    if (value.is_null()) return std::nullopt;
    if (value.is_string()) return value.get<std::string>();
    refuse(pointer, fmt::format("must be a string, it is {}", type_of(value)));
    return std::nullopt;
  }

  std::optional<Path> path(const Json& value, const std::string& pointer) {
    const auto written = text(value, pointer);
    if (!written) return std::nullopt;
    auto parsed = Path::parse(*written);
    if (parsed) return std::move(*parsed);
    refuse(pointer, parsed.error().message);
    return std::nullopt;
  }

  GivenProperties properties(const Json& value, const std::string& pointer) {
    GivenProperties given;
    if (value.is_null()) return given;
    if (!value.is_object()) {
      refuse(pointer, fmt::format("must be an object of values, it is {}", type_of(value)));
      return given;
    }
    for (const auto& [name, each] : value.items()) {
      if (auto written = text(each, pointer_to_field(pointer, name))) {
        given.emplace(name, std::move(*written));
      } else if (each.is_null()) {
        refuse(pointer_to_field(pointer, name),
               "has no value; leave the property out to have its default");
      }
    }
    return given;
  }

  void refuse(const std::string& pointer, std::string detail) {
    if (errors_.size() >= kDeclarationErrorsMax) return;
    errors_.push_back({pointer, ErrorCode::InvalidValue, std::move(detail)});
  }

  std::vector<FieldError>& errors_;
};

}  // namespace

Json to_json(const Declaration& declaration) {
  Json json = Json::object();
  if (declaration.type) json[kType] = *declaration.type;
  if (declaration.inherit) json[kInherit] = declaration.inherit->text();
  if (!declaration.properties.empty()) {
    Json& properties = json[kProperties] = Json::object();
    for (const auto& [name, value] : declaration.properties) properties[name] = value;
  }
  for (const auto& [id, child] : declaration.children) json[id] = to_json(child);
  return json;
}

Declaration declaration_from_json(const Json& json, const std::string& pointer,
                                  std::vector<FieldError>& errors) {
  return Reader(errors).item(json, pointer);
}

}  // namespace muster::model
