#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/nearest.h"
#include "model/quoted.h"
#include "plan/template.h"

namespace muster::plan {

// Checks templates one after the other and goes on after an error, so that all are told.
class TemplateChecker {
 public:
  TemplateChecker(const model::Schema& schema, const std::vector<std::string>& tags)
      : schema_(schema), tags_(tags) {}

  BuiltTemplates check(std::vector<TaskTemplate> templates) && {
    for (TaskTemplate& one : templates) {
      one.reads = reads_of(one);
      built_.templates_.push_back(std::make_shared<const TaskTemplate>(std::move(one)));
      check_template(*built_.templates_.back());
    }
    check_resources();
    BuiltTemplates made;
    std::sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.place.file, a.place.line, a.place.column) <
             std::tie(b.place.file, b.place.line, b.place.column);
    });
    made.errors = std::move(errors_);
    if (made.errors.empty()) made.templates = std::move(built_);
    return made;
  }

 private:
  // What a text may have in it.
  enum class Secrets : std::uint8_t { No, Whole };
  enum class Unset : std::uint8_t { No, Allowed };

  void check_template(const TaskTemplate& one) {
    type_ = schema_.find_item_type(one.type);
    if (type_ == nullptr) {
      error(one.place, "there is no item type {}{}", model::quoted(one.type),
            schema_.suggest_item_type(one.type));
      return;
    }
    if (type_->pack != one.pack) {
      error(one.place, "item type '{}' is of pack '{}'; a pack has templates for its own types",
            one.type, type_->pack);
    }
    built_.by_type_[one.type].push_back(&one);
    if (!one.tag.empty() && std::find(tags_.begin(), tags_.end(), one.tag) == tags_.end()) {
      const std::vector<std::string_view> known(tags_.begin(), tags_.end());
      error(one.place, "no group of the ruleset has the tag {}{}", model::quoted(one.tag),
            did_you_mean(one.tag, known));
    }
    if_set_ = &one.if_set;
    for (const std::string& name : one.if_set) {
      if (type_->find_property(name) == nullptr) unknown_property(*type_, name, one.place);
    }
    check_text(one.description, Secrets::No, Unset::Allowed);
    if (one.kind == TaskKind::Config) check_call(one.call);
    for (const TemplateCall& call : one.replaces) check_call(call);
    for (const TemplateRequirement& each : one.requirements) check_requirement(one, each);
    if (one.absent_if && type_->find_property(one.absent_if->property) == nullptr) {
      unknown_property(*type_, one.absent_if->property, one.place);
    }
    check_fields(one.attributes);
  }

  void check_call(const TemplateCall& call) {
    check_text(call.type, Secrets::No, Unset::No);
    check_text(call.id, Secrets::No, Unset::No);
  }

  void check_requirement(const TaskTemplate& one, const TemplateRequirement& requirement) {
    const TemplateCall& call = requirement.call;
    check_text(call.type, Secrets::No, Unset::No);
    check_text(call.id, Secrets::No, Unset::Allowed);
    if (requirement.which == TemplateRequirement::Which::Every && one.kind == TaskKind::Config &&
        call.type.same_as(one.call.type)) {
      error(call.type.place, "a resource cannot come after every resource of its own type");
    }
  }

  void check_fields(const TemplateFields& fields) {
    for (const auto& [name, value] : fields) check_value(value);
  }

  void check_value(const TemplateValue& value) {
    if (const auto* text = std::get_if<TemplateText>(&value.data)) {
      check_text(*text, Secrets::Whole, Unset::Allowed);
    } else if (const auto* fill = std::get_if<TemplateFill>(&value.data)) {
      check_text(fill->text, Secrets::No, Unset::Allowed);
    } else if (const auto* list = std::get_if<std::vector<TemplateValue>>(&value.data)) {
      for (const TemplateValue& inner : *list) check_value(inner);
    } else if (const auto* fields = std::get_if<TemplateFields>(&value.data)) {
      check_fields(*fields);
    } else {
      check_collect(std::get<TemplateCollect>(value.data), value.place);
    }
  }

  void check_collect(const TemplateCollect& collect, const model::Place& place) {
    const model::Element* const element = type_->find_element(collect.collection);
    if (element == nullptr || !element->is_collection()) {
      error(place, "item type '{}' has no collection {}", type_->id,
            model::quoted(collect.collection));
      return;
    }
    const model::ItemType* const outer = std::exchange(type_, element->type);
    in_collection_ = true;
    check_text(collect.key, Secrets::No, Unset::No);
    check_text(collect.value, Secrets::Whole, Unset::Allowed);
    in_collection_ = false;
    type_ = outer;
  }

  void check_text(const TemplateText& text, Secrets secrets, Unset unset) {
    for (const auto& part : text.parts) {
      const auto* reference = std::get_if<TemplateReference>(&part);
      if (reference == nullptr) continue;
      if (reference->optional && unset == Unset::No) {
        error(text.place, "what may be unset has no place here");
      }
      check_reference(*reference, text, secrets == Secrets::Whole && text.whole() != nullptr);
    }
  }

  // The types that the reference may be about.
  std::vector<const model::ItemType*> types_of(TemplateScope scope) const {
    std::vector<const model::ItemType*> types;
    const auto add = [&](std::string_view id) {
      if (const model::ItemType* type = schema_.find_item_type(id)) types.push_back(type);
    };
    switch (scope) {
      case TemplateScope::Item:
        types.push_back(type_);
        break;
      case TemplateScope::Parent:
        return parents();
      case TemplateScope::Node:
        add("node");
        add("ms");
        break;
      case TemplateScope::Cluster:
        add("cluster-base");
        break;
    }
    return types;
  }

  std::vector<const model::ItemType*> parents() const {
    std::vector<const model::ItemType*> types;
    for (const auto& [id, type] : schema_.item_types()) {
      const bool takes =
          std::any_of(type->elements.begin(), type->elements.end(),
                      [&](const model::Element& element) { return type_->is_a(*element.type); });
      if (takes) types.push_back(type.get());
    }
    return types;
  }

  void check_reference(const TemplateReference& reference, const TemplateText& text,
                       bool secret_allowed) {
    auto types = types_of(reference.scope);
    if (reference.scope == TemplateScope::Parent) keep_able_parents(reference, types);
    if (types.empty()) {
      error(text.place, "nothing has items of type '{}' below it", type_->id);
      return;
    }
    if (reference.what != TemplateReference::What::Property) {
      check_there(reference, text);
      return;
    }
    // Beside the cluster, which an item on the management server does not have.
    bool always_set = reference.scope != TemplateScope::Cluster;
    for (const model::ItemType* type : types) {
      bool set = false;
      for (const std::string& name : reference.properties) {
        const bool is_view = type->views.contains(name);
        const model::Property* const property = type->find_property(name);
        // The management server has fewer properties than a node; they count as unset.
        const bool may_lack = reference.scope == TemplateScope::Node && type->id == "ms";
        if (property == nullptr && !is_view) {
          if (reference.scope == TemplateScope::Parent && has_any(*type, reference.properties)) {
            continue;
          }
          if (!may_lack) unknown_property(*type, name, text.place);
          set = set || !may_lack;  // an unknown one is told once
          continue;
        }
        const bool hidden = is_view || property->definition.secret;
        if (hidden && !secret_allowed) {
          error(text.place, "'{}' of '{}' is a {}; it can only be a whole attribute", name,
                type->id, is_view ? "view" : "secret");
        }
        set = set || is_view || property->definition.required ||
              property->definition.default_value.has_value() || is_told_set(reference, name);
      }
      // Exactly one of some properties is set: together they always are.
      always_set = always_set && (set || one_is_set(*type, reference.properties));
    }
    if (always_set || reference.optional) return;
    error(text.place, "{} may be unset; with '?' at its end, what it stands in is left out then",
          model::quoted_list(reference.properties));
  }

  static bool has_any(const model::ItemType& type, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return type.find_property(name) != nullptr || type.views.contains(name);
    });
  }

  // Any pack may put items of the type below its own: a template is made for parents of its own
  // pack that have what it names, and if there are none for any that have it.
  void keep_able_parents(const TemplateReference& reference,
                         std::vector<const model::ItemType*>& types) const {
    if (reference.what != TemplateReference::What::Property) return;
    const auto keep = [&](const auto& wanted) {
      if (std::any_of(types.begin(), types.end(), wanted)) {
        std::erase_if(types, [&](const model::ItemType* type) { return !wanted(type); });
      }
    };
    keep([&](const model::ItemType* type) { return has_any(*type, reference.properties); });
    keep([&](const model::ItemType* type) { return type->pack == type_->pack; });
    // What none of them has is told once.
    if (!types.empty() && !has_any(*types.front(), reference.properties)) types.resize(1);
  }

  void check_there(const TemplateReference& reference, const TemplateText& text) {
    if (reference.scope == TemplateScope::Cluster && !reference.optional) {
      error(text.place,
            "an item on the management server has no cluster; with '?' at its end, "
            "what it stands in is left out then");
    }
  }

  bool is_told_set(const TemplateReference& reference, const std::string& name) const {
    return reference.scope == TemplateScope::Item && !in_collection_ &&
           std::find(if_set_->begin(), if_set_->end(), name) != if_set_->end();
  }

  static bool one_is_set(const model::ItemType& type, const std::vector<std::string>& names) {
    return std::any_of(type.checks.begin(), type.checks.end(), [&](const auto& entry) {
      const auto* one = std::get_if<model::OnePropertyCheck>(&entry.second);
      return one != nullptr &&
             std::all_of(one->properties.begin(), one->properties.end(), [&](const auto& name) {
               return std::find(names.begin(), names.end(), name) != names.end();
             });
    });
  }

  void unknown_property(const model::ItemType& type, const std::string& name,
                        const model::Place& place) {
    std::vector<std::string_view> known;
    for (const auto& [property, definition] : type.properties) known.push_back(property);
    error(place, "item type '{}' has no property {}{}", type.id, model::quoted(name),
          did_you_mean(name, known));
  }

  // Two templates that would make one resource of one item.
  void check_resources() {
    for (const auto& [type, list] : built_.by_type_) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const TaskTemplate& a = *list[j];
          const TaskTemplate& b = *list[i];
          if (a.kind != TaskKind::Config || b.kind != TaskKind::Config) continue;
          const bool meet = std::any_of(a.states.begin(), a.states.end(),
                                        [&](model::ItemState state) { return b.has_state(state); });
          if (meet && a.call.type.same_as(b.call.type) && a.call.id.same_as(b.call.id)) {
            error(b.place, "the template at {} makes the same resource in the same state",
                  to_text(a.place));
          }
        }
      }
    }
  }

  template <typename... Args>
  void error(const model::Place& place, fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back({place, fmt::format(format, std::forward<Args>(args)...)});
  }

  const model::Schema& schema_;
  const std::vector<std::string>& tags_;
  const model::ItemType* type_ = nullptr;  // that the template in hand is for
  const std::vector<std::string>* if_set_ = nullptr;
  bool in_collection_ = false;
  TaskTemplates built_;
  std::vector<model::DefinitionError> errors_;
};

BuiltTemplates build_templates(std::vector<TaskTemplate> templates, const model::Schema& schema,
                               const std::vector<std::string>& tags) {
  return TemplateChecker(schema, tags).check(std::move(templates));
}

}  // namespace muster::plan
