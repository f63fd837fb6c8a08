#include "model/item_checks.h"

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <variant>

#include "base/nearest.h"
#include "model/value_check.h"

namespace muster::model {
namespace {

class ItemChecker {
 public:
  ItemChecker(const Path& path, const ItemType& type, const PropertiesPtr& merged,
              const Answers& answers, Findings& findings)
      : path_(path), type_(type), merged_(merged), answers_(answers), findings_(findings) {}

  bool check_value(const Property& property) {
    const std::string& name = property.definition.name;
    const std::string* value = find(merged_, name);
    if (!value) {
      if (!property.definition.required) return true;
      return wrong(Refusal::MissingRequiredProperty, name,
                   fmt::format("a {} needs the property '{}'", type_.id, name));
    }
    // The value of a secret is not for other eyes, not even a wrong one.
    if (std::string problem = value_problem(*property.type, *value); !problem.empty()) {
      return wrong(Refusal::Validation, name,
                   property.definition.secret ? fmt::format("the value is not right: {}",
                                                            property.type->definition.description)
                                              : std::move(problem));
    }
    for (const ValueCheck& check : property.type->definition.checks) {
      const auto* plugin = std::get_if<PluginCheck>(&check);
      if (!plugin) continue;
      const bool right = ask({.kind = Question::Kind::PluginValue,
                              .pack = property.type->pack,
                              .method = plugin->method,
                              .path = path_,
                              .property = name,
                              .value = *value});
      if (!right) return false;
    }
    return true;
  }

  void check_together() {
    for (const auto& [pack, check] : type_.checks) {
      std::visit([&](const auto& each) { check_item(pack, each); }, check);
    }
  }

 private:
  void check_item(const std::string& pack, const PluginCheck& check) {
    Question question{
        .kind = Question::Kind::PluginItem, .pack = pack, .method = check.method, .path = path_};
    if (merged_) {
      for (const auto& [name, value] : *merged_) question.properties.emplace(name, value);
    }
    ask(std::move(question));
  }

  void check_item(const std::string&, const DirectoryCheck& check) {
    const std::string* value = find(merged_, check.property);
    if (!value) return;
    ask({.kind = Question::Kind::Directory,
         .path = path_,
         .property = check.property,
         .value = *value});
  }

  template <typename Check>
  void check_item(const std::string&, const Check& check) {
    const std::string problem =
        item_problem(check, [&](std::string_view name) { return find(merged_, name); });
    if (!problem.empty()) wrong(Refusal::Validation, "", problem);
  }

  // False: the answer is that it is wrong. A question without an answer yet passes for now.
  bool ask(Question question) {
    const auto answer = answers_.find(question);
    if (answer == answers_.end()) {
      findings_.questions.push_back(std::move(question));
      return true;
    }
    if (answer->second.empty()) return true;
    return wrong(Refusal::Validation, question.property, answer->second);
  }

  bool wrong(Refusal code, std::string property, std::string message) {
    findings_.errors.push_back({code, path_, std::move(property), std::move(message)});
    return false;
  }

  const Path& path_;
  const ItemType& type_;
  const PropertiesPtr& merged_;
  const Answers& answers_;
  Findings& findings_;
};

// Of a property of the item that was looked at last: a name that was misspelt, say. Then a value is
// missing, and whether they go together cannot be said.
bool has_error(const Path& path, const Findings& findings) {
  return !findings.errors.empty() && findings.errors.back().path == path &&
         !findings.errors.back().property.empty();
}

}  // namespace

std::optional<Properties> defaults_of(const ItemType& type) {
  Properties properties;
  for (const auto& [name, property] : type.properties) {
    if (property.definition.default_value) {
      properties.set(name, *property.definition.default_value);
    } else if (property.definition.required) {
      return std::nullopt;
    }
  }
  return properties;
}

bool comes_by_itself(const Element& element) {
  if (element.is_collection()) return true;
  return element.definition.kind == ElementKind::Child && element.definition.required &&
         defaults_of(*element.type).has_value();
}

std::string no_such_child(const ItemType& type, std::string_view id) {
  std::vector<std::string_view> names;
  for (const Element& element : type.elements) names.push_back(element.definition.name);
  return fmt::format("a {} has no child '{}'{}", type.id, id, did_you_mean(id, names));
}

const Property* check_name(const Path& path, const ItemType& type, std::string_view name,
                           Findings& findings) {
  if (const Property* property = type.find_property(name)) return property;
  std::string message;
  if (type.views.contains(name)) {
    message = fmt::format("'{}' of a {} is computed and cannot be set", name, type.id);
  } else {
    std::vector<std::string_view> known;
    for (const auto& [other, property] : type.properties) known.push_back(other);
    message = known.empty() ? fmt::format("a {} has no properties", type.id)
                            : fmt::format("a {} has no property '{}'{}", type.id, name,
                                          did_you_mean(name, known));
  }
  findings.errors.push_back(
      {Refusal::PropertyNotAllowed, path, std::string(name), std::move(message)});
  return nullptr;
}

bool check_values(const Path& path, const ItemType& type, const PropertiesPtr& merged,
                  const std::set<std::string_view>& changed, const Answers& answers,
                  Findings& findings) {
  ItemChecker checker(path, type, merged, answers, findings);
  bool right = true;
  const bool complete = !has_error(path, findings);
  for (const std::string_view name : changed) {
    if (const Property* property = type.find_property(name)) {
      right = checker.check_value(*property) && right;
    }
  }
  if (right && complete) checker.check_together();
  return right;
}

bool check_all_values(const Path& path, const ItemType& type, const PropertiesPtr& merged,
                      const Answers& answers, Findings& findings) {
  ItemChecker checker(path, type, merged, answers, findings);
  bool right = true;
  const bool complete = !has_error(path, findings);
  for (const auto& [name, property] : type.properties) {
    right = checker.check_value(property) && right;
  }
  if (right && complete) checker.check_together();
  return right;
}

}  // namespace muster::model
