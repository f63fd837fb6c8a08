#include "controller/api_model_request.h"

#include <utility>

#include "base/field_errors.h"
#include "base/json.h"
#include "controller/api_body.h"
#include "model/declaration_json.h"

namespace muster::controller {
namespace {

constexpr std::size_t kNameCharactersMax = 255;
constexpr std::size_t kPathCharactersMax = 16'384;

std::string read_why(ObjectReader& reader) {
  return reader.text("why", kWhyCharactersMax, true).value_or("");
}

std::optional<model::Path> read_path(ObjectReader& reader, std::string_view field) {
  const auto text = reader.text(field, kPathCharactersMax);
  if (!text) return std::nullopt;
  auto path = model::Path::parse(*text);
  if (path) return std::move(*path);
  reader.invalid(field, path.error().message);
  return std::nullopt;
}

// Values of an item are texts; null, where it is allowed, takes one away.
void read_properties(ObjectReader& reader, Problems& problems, model::GivenProperties& set,
                     std::vector<std::string>* unset) {
  const Json* values = reader.find("properties");
  if (!values) return;
  const std::string pointer = reader.pointer_to("properties");
  if (!values->is_object()) {
    return reader.invalid("properties",
                          fmt::format("must be an object of values, it is {}", type_of(*values)));
  }
  for (const auto& [name, value] : values->items()) {
    if (value.is_string()) {
      set.emplace(name, value.get<std::string>());
    } else if (value.is_null() && unset) {
      unset->push_back(name);
    } else {
      problems.add(
          pointer_to_field(pointer, name), ErrorCode::InvalidValue,
          fmt::format("must be a string{}, it is {}", unset ? " or null" : "", type_of(value)));
    }
  }
}

}  // namespace

Result<EditBody> decode_create_item(std::string_view body, const model::Path& parent) {
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  EditBody result;
  std::string id;
  if (reader.require("id")) id = reader.text("id", kNameCharactersMax).value_or("");
  const auto type = reader.text("type", kNameCharactersMax);
  const auto source = read_path(reader, "inherit");
  model::GivenProperties properties;
  read_properties(reader, problems, properties, nullptr);
  result.why = read_why(reader);
  const bool has_type = reader.find("type") != nullptr;
  const bool has_source = reader.find("inherit") != nullptr;
  if (has_type == has_source) {
    problems.add("/type", has_type ? ErrorCode::InvalidRequest : ErrorCode::MissingField,
                 "an item has either a `type`, or `inherit`, the path of what it inherits from");
  }
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  if (source) {
    result.operations.push_back(model::InheritItem{parent, id, *source, std::move(properties)});
  } else {
    result.operations.push_back(model::CreateItem{parent, id, *type, std::move(properties)});
  }
  return result;
}

Result<EditBody> decode_update_item(std::string_view body, const model::Path& path) {
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  EditBody result;
  model::UpdateItem update;
  update.path = path;
  (void)reader.require("properties");
  read_properties(reader, problems, update.set, &update.unset);
  result.why = read_why(reader);
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  result.operations.push_back(std::move(update));
  return result;
}

Result<ApplyBody> decode_apply(std::string_view body) {
  if (body.empty())
    return fail(ErrorCode::InvalidJson, "the body is empty, it must be a JSON object");
  MUSTER_TRY_ASSIGN(const Json json,
                    parse_json(body, {.bytes_max = kModelBodyBytesMax, .depth_max = 200}));
  Problems problems;
  ObjectReader reader(json, "", problems);
  ApplyBody result;
  if (const auto at = read_path(reader, "at")) result.apply.at = *at;
  if (reader.flag("prune").value_or(false)) result.apply.prune = model::Prune::Undeclared;
  result.why = read_why(reader);
  auto wanted = std::make_shared<model::Declaration>();
  if (const Json* model = reader.require("model")) {
    std::vector<FieldError> errors;
    *wanted = model::declaration_from_json(*model, "/model", errors);
    problems.add_all(std::move(errors));
  }
  result.apply.wanted = std::move(wanted);
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return result;
}

Result<std::string> decode_why(std::string_view body) {
  if (body.empty()) return std::string();
  MUSTER_TRY_ASSIGN(const Json json, parse_body(body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  std::string why = read_why(reader);
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return why;
}

Result<std::optional<std::string>> parse_model_match(const http::Request& request) {
  const auto found = request.headers.find("if-match");
  if (found == request.headers.end() || found->second == "*") return std::nullopt;
  const std::string& text = found->second;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"' &&
                      text.find('"', 1) == text.size() - 1;
  if (quoted) return text.substr(1, text.size() - 2);
  return fail(ErrorCode::InvalidValue,
              "the header If-Match is {}, it must be one ETag as the item has it, or \"model-N\" "
              "for revision N of the model",
              in_quotes(text));
}

}  // namespace muster::controller
