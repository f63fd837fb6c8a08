#include "model/test_validator.h"

#include <algorithm>
#include <map>
#include <regex>

namespace muster::model::testing {
namespace {

std::string type_of(const Json& value) {
  return value.is_object()    ? "object"
         : value.is_array()   ? "array"
         : value.is_string()  ? "string"
         : value.is_number()  ? "number"
         : value.is_boolean() ? "boolean"
                              : "null";
}

const std::regex& compiled(const std::string& pattern) {
  static std::map<std::string, std::regex> known;
  return known.try_emplace(pattern, pattern, std::regex::ECMAScript).first->second;
}

}  // namespace

bool SchemaValidator::refuse(const std::string& at, const std::string& word) {
  refused_.push_back(at + " " + word);
  return false;
}

bool SchemaValidator::accepts(const Json& rule, const Json& value, const std::string& at) {
  if (rule.is_boolean()) return rule.get<bool>() || refuse(at, "false");
  bool good = true;
  for (const auto& [word, argument] : rule.items()) {
    good = word_accepts(rule, word, argument, value, at) && good;
  }
  return good;
}

bool SchemaValidator::word_accepts(const Json& rule, const std::string& word, const Json& argument,
                                   const Json& value, const std::string& at) {
  if (word == "$ref") {
    const std::string name = argument.get<std::string>().substr(8);
    return accepts(schema_["$defs"][name], value, at);
  }
  if (word == "type") {
    const Json types = argument.is_array() ? argument : Json::array({argument});
    return std::find(types.begin(), types.end(), Json(type_of(value))) != types.end() ||
           refuse(at, word);
  }
  if (word == "enum") {
    return std::find(argument.begin(), argument.end(), value) != argument.end() || refuse(at, word);
  }
  if (word == "const") return value == argument || refuse(at, word);
  if (word == "pattern" && value.is_string()) {
    return std::regex_search(value.get<std::string>(), compiled(argument)) || refuse(at, word);
  }
  if (word == "allOf") {
    bool good = true;
    for (const Json& part : argument) good = accepts(part, value, at) && good;
    return good;
  }
  if (word == "if") {
    SchemaValidator quiet(schema_);
    const char* const branch = quiet.accepts(argument, value, at) ? "then" : "else";
    return !rule.contains(branch) || accepts(rule[branch], value, at);
  }
  return !value.is_object() || object_accepts(rule, word, argument, value, at);
}

bool SchemaValidator::object_accepts(const Json& rule, const std::string& word,
                                     const Json& argument, const Json& value,
                                     const std::string& at) {
  bool good = true;
  if (word == "required") {
    for (const Json& name : argument) {
      if (!value.contains(name.get<std::string>())) {
        good = refuse(at + "/" + name.get<std::string>(), word);
      }
    }
  } else if (word == "maxProperties") {
    good = value.size() <= argument.get<std::size_t>() || refuse(at, word);
  } else if (word == "properties" || word == "additionalProperties" || word == "propertyNames") {
    for (const auto& [name, inner] : value.items()) {
      const bool named = rule.contains("properties") && rule["properties"].contains(name);
      const std::string below = at + "/" + name;
      if (word == "propertyNames") good = accepts(argument, name, below) && good;
      if (word == "properties" && named) good = accepts(argument[name], inner, below) && good;
      if (word == "additionalProperties" && !named) {
        good = accepts(argument, inner, below) && good;
      }
    }
  }
  return good;
}

}  // namespace muster::model::testing
