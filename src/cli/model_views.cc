#include "cli/model_views.h"

#include <array>
#include <map>

#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

bool is_collection(const Json& item) {
  const std::string item_class = json_text(item, "class");
  return item_class == "collection" || item_class == "ref-collection";
}

Style style_of_state(std::string_view state) {
  if (state == "Applied") return Style::Good;
  if (state == "ForRemoval" || state == "Removed") return Style::Bad;
  return state == "Updated" ? Style::Active : Style::Waiting;
}

std::string state_text(const Json& item, const Terminal& terminal) {
  const std::string state = json_text(item, "state");
  std::string text = paint(state, style_of_state(state), terminal.stdout_color);
  const Json& determinable = json_at(item, "applied_properties_determinable");
  if (determinable.is_boolean() && !determinable.get<bool>()) {
    text += " (deployment of properties indeterminable)";
  }
  return text;
}

// "cluster", "references to software-item", "node from /infrastructure/systems/s1".
std::string type_text(const Json& item) {
  const std::string type = json_text(item, "type");
  const std::string item_class = json_text(item, "class");
  if (item_class == "collection") return "collection of " + type;
  if (item_class == "ref-collection") return "references to " + type;
  const std::string source = json_text(item, "inherited_from");
  return source.empty() ? type : fmt::format("{} from {}", type, source);
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "(none)";
  const std::string text = json_cell(value);
  return text.empty() ? "''" : printable(text);
}

void add_tree(const Json& item, const std::string& indent, const Terminal& terminal,
              std::string& text) {
  const Json& items = json_at(item, "items");
  const Json& children = json_at(item, "children");
  if (!items.is_array()) {
    if (children.is_array() && !children.empty()) {
      text +=
          fmt::format("{}{} {} more below\n", indent, terminal.utf8 ? "└─" : "`-", children.size());
    }
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Json& child = items[i];
    const bool last = i + 1 == items.size();
    const std::string branch = terminal.utf8 ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- ");
    const std::string trunk = last ? "   " : (terminal.utf8 ? "│  " : "|  ");
    text += fmt::format("{}{}{}  {}", indent, branch, printable(json_text(child, "id")),
                        paint(printable(type_text(child)), Style::Dim, terminal.stdout_color));
    if (!is_collection(child)) text += "  " + state_text(child, terminal);
    text += '\n';
    add_tree(child, indent + trunk, terminal, text);
  }
}

struct ChangeKind {
  std::string_view name;
  std::string_view mark;
  std::string_view word;
  Style style;
};

constexpr std::array<ChangeKind, 5> kChangeKinds = {{
    {"added", "+", "added", Style::Good},
    {"changed", "~", "changed", Style::Active},
    {"recovered", "~", "recovered from removal", Style::Active},
    {"for_removal", "-", "marked for removal", Style::Bad},
    {"removed", "-", "removed", Style::Bad},
}};

const ChangeKind& kind_of(const Json& change) {
  const std::string name = json_text(change, "change");
  for (const ChangeKind& kind : kChangeKinds) {
    if (kind.name == name) return kind;
  }
  return kChangeKinds[1];
}

std::string change_text(const Json& change, const Terminal& terminal) {
  const ChangeKind& kind = kind_of(change);
  std::string text = paint(fmt::format("{} {}", kind.mark, printable(json_text(change, "path"))),
                           kind.style, terminal.stdout_color);
  text += fmt::format("  {}", printable(type_text(change)));
  const std::string before = json_text(change, "state_before");
  const std::string after = json_text(change, "state_after");
  if (!before.empty() && !after.empty() && before != after) {
    text += fmt::format("  {} -> {}", before, after);
  }
  text += '\n';
  const Json& properties = json_at(change, "properties");
  if (!properties.is_object() || json_text(change, "change") == "removed") return text;
  for (const auto& [name, value] : properties.items()) {
    const Json& was = json_at(value, "before");
    text += fmt::format("    {}: ", printable(name));
    if (!was.is_null() && json_text(change, "change") != "added") {
      text += fmt::format("{} -> ", value_text(was));
    }
    text += value_text(json_at(value, "after")) + "\n";
  }
  return text;
}

}  // namespace

std::string item_text(const Json& item, const Terminal& terminal) {
  std::string text = fmt::format("{}\n", printable(json_text(item, "path")));
  text += fmt::format("  type: {}\n", printable(type_text(item)));
  if (!is_collection(item)) text += fmt::format("  state: {}\n", state_text(item, terminal));
  const Json& properties = json_at(item, "properties");
  std::map<std::string, bool> own;
  for (const Json& name : json_at(item, "properties_overwritten")) own[json_cell(name)] = true;
  const bool inherited = !json_text(item, "inherited_from").empty();
  if (properties.is_object() && !properties.empty()) {
    text += "  properties:\n";
    const Json& applied = json_at(item, "applied_properties");
    for (const auto& [name, value] : properties.items()) {
      text += fmt::format("    {}: {}", printable(name), value_text(value));
      if (inherited && !own.contains(name)) text += " [*]";
      if (applied.is_object() && json_at(applied, name) != value) {
        text += fmt::format("  (applied: {})", value_text(json_at(applied, name)));
      }
      text += '\n';
    }
  }
  const Json& children = json_at(item, "children");
  if (children.is_array() && !children.empty()) {
    text += "  children:\n";
    for (const Json& id : children) text += fmt::format("    {}\n", printable(json_cell(id)));
  }
  return text;
}

std::string tree_text(const Json& item, const Terminal& terminal) {
  std::string text =
      fmt::format("{}  {}\n", printable(json_text(item, "path")),
                  paint(printable(type_text(item)), Style::Dim, terminal.stdout_color));
  add_tree(item, "", terminal, text);
  return text;
}

std::string changes_text(const Json& changes, const Terminal& terminal) {
  std::string text;
  for (const Json& change : changes) {
    if (!is_collection(change)) text += change_text(change, terminal);
  }
  return text;
}

std::string changes_summary(const Json& changes) {
  std::array<std::size_t, kChangeKinds.size()> counts = {};
  for (const Json& change : changes) {
    if (is_collection(change)) continue;
    ++counts[static_cast<std::size_t>(&kind_of(change) - kChangeKinds.data())];
  }
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], kChangeKinds[i].word);
  }
  return text.empty() ? "nothing to change" : text;
}

}  // namespace muster::cli
