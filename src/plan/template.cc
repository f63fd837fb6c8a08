#include "plan/template.h"

#include <algorithm>
#include <array>

namespace muster::plan {
namespace {

constexpr std::array<std::string_view, 4> kScopes = {"item", "parent", "node", "cluster"};

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<TemplateScope> parse_scope(std::string_view word) {
  const auto found = std::find(kScopes.begin(), kScopes.end(), word);
  if (found == kScopes.end()) return std::nullopt;
  return static_cast<TemplateScope>(found - kScopes.begin());
}

// "name", "version?", "value|secret_value", "node.hostname", "cluster:id".
std::string parse_reference(std::string_view text, TemplateReference& reference) {
  const auto wrong = [&](std::string_view what) { return fmt::format("'${{{}}}' {}", text, what); };
  std::string_view rest = text;
  if (rest.ends_with('?')) {
    reference.optional = true;
    rest.remove_suffix(1);
  }
  const std::size_t mark = rest.find_first_of(".:");
  if (mark != std::string_view::npos) {
    const auto scope = parse_scope(rest.substr(0, mark));
    if (!scope) return wrong("names something else than item, parent, node or cluster");
    reference.scope = *scope;
    const bool fact = rest[mark] == ':';
    rest.remove_prefix(mark + 1);
    if (fact) {
      if (rest != "id" && rest != "path") return wrong("may have 'id' or 'path' after ':'");
      reference.what = rest == "id" ? TemplateReference::What::Id : TemplateReference::What::Path;
      return {};
    }
  }
  while (true) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view name = rest.substr(0, bar);
    if (!is_name(name)) return wrong("is not the name of a property");
    reference.properties.emplace_back(name);
    if (bar == rest.size()) return {};
    rest.remove_prefix(bar + 1);
  }
}

}  // namespace

const TemplateReference* TemplateText::whole() const {
  return parts.size() == 1 ? std::get_if<TemplateReference>(&parts.front()) : nullptr;
}

bool TaskTemplate::has_state(model::ItemState state) const {
  return std::find(states.begin(), states.end(), state) != states.end();
}

namespace {

// Collects what a template reads.
class Reads {
 public:
  void add(const TemplateText& text, bool may_be_hidden) {
    for (const auto& part : text.parts) {
      const auto* reference = std::get_if<TemplateReference>(&part);
      if (reference == nullptr || reference->what != TemplateReference::What::Property) continue;
      made.node = made.node || reference->scope == TemplateScope::Node;
      made.cluster = made.cluster || reference->scope == TemplateScope::Cluster;
      if (reference->scope != TemplateScope::Parent) continue;
      made.parent = true;
      made.of_parent.push_back(
          {reference->properties, reference->optional, may_be_hidden && text.whole() != nullptr});
    }
  }

  void add(const TemplateCall& call) {
    add(call.type, false);
    add(call.id, false);
  }

  void add(const TemplateValue& value) {
    if (const auto* text = std::get_if<TemplateText>(&value.data)) {
      add(*text, true);
    } else if (const auto* list = std::get_if<std::vector<TemplateValue>>(&value.data)) {
      for (const TemplateValue& inner : *list) add(inner);
    } else if (const auto* fields = std::get_if<TemplateFields>(&value.data)) {
      add(*fields);
    } else if (const auto* fill = std::get_if<TemplateFill>(&value.data)) {
      add(fill->text, false);
      made.node = true;
    }
    // What is collected has the item itself as its parent.
  }

  void add(const TemplateFields& fields) {
    for (const auto& [name, value] : fields) add(value);
  }

  TemplateReads made;
};

}  // namespace

TemplateReads reads_of(const TaskTemplate& one) {
  Reads reads;
  reads.add(one.call);
  for (const TemplateCall& call : one.replaces) reads.add(call);
  for (const TemplateRequirement& each : one.requirements) reads.add(each.call);
  reads.add(one.attributes);
  // A task is the same whatever its description says, and in that nothing has to be set.
  Reads in_description;
  in_description.add(one.description, false);
  for (ParentReference& reference : in_description.made.of_parent) {
    reference.optional = true;
    reads.made.of_parent.push_back(std::move(reference));
  }
  return std::move(reads.made);
}

// "$${" is a plain "${".
std::string parse_template_text(std::string_view text, TemplateText& parsed) {
  std::string literal;
  while (!text.empty()) {
    const std::size_t mark = text.find("${");
    if (mark == std::string_view::npos) {
      literal += text;
      break;
    }
    if (mark > 0 && text[mark - 1] == '$') {
      literal += text.substr(0, mark - 1);
      literal += "${";
      text.remove_prefix(mark + 2);
      continue;
    }
    literal += text.substr(0, mark);
    const std::size_t end = text.find('}', mark);
    if (end == std::string_view::npos) return "a '${' has no '}'";
    TemplateReference reference;
    std::string problem = parse_reference(text.substr(mark + 2, end - mark - 2), reference);
    if (!problem.empty()) return problem;
    if (!literal.empty()) parsed.parts.emplace_back(std::move(literal));
    literal.clear();
    parsed.parts.emplace_back(std::move(reference));
    text.remove_prefix(end + 1);
  }
  if (!literal.empty()) parsed.parts.emplace_back(std::move(literal));
  return {};
}

const std::vector<const TaskTemplate*>& TaskTemplates::of(const model::ItemType& type) const {
  static const std::vector<const TaskTemplate*> kNoTemplates;
  for (const model::ItemType* at = &type; at != nullptr; at = at->base) {
    if (const auto found = by_type_.find(at->id); found != by_type_.end()) return found->second;
  }
  return kNoTemplates;
}

}  // namespace muster::plan
