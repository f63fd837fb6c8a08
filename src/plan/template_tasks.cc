#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/nearest.h"
#include "model/quoted.h"
#include "plan/template.h"
#include "plan/template_order.h"

namespace muster::plan {
namespace {

using model::ItemState;
using model::Node;

bool is_of(const Node& node, std::string_view type) {
  return !node.item().is_collection() && node.item().type->is_a(type);
}

const Node* find_above(const Node& node, std::string_view type) {
  for (const Node* at = &node; at != nullptr; at = at->parent()) {
    if (is_of(*at, type)) return at;
  }
  return nullptr;
}

const Node* parent_item(const Node& node) {
  const Node* above = node.parent();
  while (above != nullptr && above->item().is_collection()) above = above->parent();
  return above;
}

bool is_going(const Node& node) {
  return node.item().state == ItemState::ForRemoval || node.item().state == ItemState::Removed;
}

// One item on one node.
class Filler {
 public:
  Filler(const TaskTemplate& from, const Node& item, const Node& node, TemplateTasks& out,
         TemplateOrder& order)
      : from_(from), item_(&item), node_(node), out_(out), order_(order) {}

  void make() {
    Task task;
    task.plugin = from_.pack;
    task.item = item_->path();
    task.description = description();
    task.tag = from_.tag;
    TemplateOrder::Wanted wanted = requirements();
    const std::string attributes = dump_json(fields_of(from_.attributes));
    if (from_.kind == TaskKind::Config) {
      ConfigWork work;
      work.node = node_.path();
      work.call = call_of(from_.call);
      work.attributes = attributes;
      work.persist = from_.persist;
      for (const TemplateCall& call : from_.replaces) work.replaces.push_back(call_of(call));
      std::sort(work.replaces.begin(), work.replaces.end());
      task.work = std::move(work);
    } else {
      task.work = RemoteWork{{node_.path()}, from_.action, attributes};
    }
    task.has_future = has_future_;
    task.model_items.assign(collected_.begin(), collected_.end());
    if (failed_) return;
    const bool goes = is_going(*item_);
    if (from_.kind == TaskKind::Config && (goes || is_absent())) {
      order_.add(out_.tasks.size(), std::move(wanted), goes);
    } else {
      for (Call& call : wanted.calls) task.requirements.push_back(RequiredCall{std::move(call)});
      for (std::string& type : wanted.types) {
        task.requirements.push_back(RequiredCall{{std::move(type), ""}});
      }
    }
    out_.tasks.push_back(std::move(task));
  }

 private:
  // What is unset leaves nothing behind, not even the blank that set it apart from the words around
  // it.
  std::string description() const {
    std::string made;
    bool is_gap = false;  // the last part was unset, and a blank or nothing stands before it
    for (const auto& part : from_.description.parts) {
      std::string text;
      if (const auto* literal = std::get_if<std::string>(&part)) {
        text = *literal;
      } else {
        text = value_of(std::get<TemplateReference>(part)).value_or("");
        is_gap = is_gap || (text.empty() && (made.empty() || made.ends_with(' ')));
      }
      if (text.empty()) continue;
      if (is_gap) close_gap(made, text);
      is_gap = false;
      made += text;
    }
    if (is_gap) made.erase(made.find_last_not_of(' ') + 1);
    return made;
  }

  // One blank is enough between words, and none comes before a comma or a full stop.
  static void close_gap(std::string& made, std::string& next) {
    constexpr std::string_view kAttached = ".,;:)";
    if (made.empty() || next.starts_with(' ')) next.erase(0, next.find_first_not_of(' '));
    if (!next.empty() && kAttached.find(next.front()) != std::string_view::npos) {
      made.erase(made.find_last_not_of(' ') + 1);
    }
  }

  Call call_of(const TemplateCall& call) {
    Call made{text_of(call.type).value_or(""), text_of(call.id).value_or("")};
    if (made.type.empty() || made.id.empty()) {
      wrong(call.id.place, "a resource would have no name, because a value is empty");
    }
    return made;
  }

  // What has no name, because a value is unset or empty, is not required.
  TemplateOrder::Wanted requirements() {
    using Which = TemplateRequirement::Which;
    TemplateOrder::Wanted wanted;
    for (const TemplateRequirement& each : from_.requirements) {
      const std::string type = text_of(each.call.type).value_or("");
      if (each.which == Which::Every) {
        wanted.types.push_back(type);
        continue;
      }
      const std::string id = text_of(each.call.id).value_or("");
      const auto add = [&](std::string_view name) {
        Call call{type, std::string(name)};
        const auto known = std::find(wanted.calls.begin(), wanted.calls.end(), call);
        if (!name.empty() && known == wanted.calls.end()) wanted.calls.push_back(std::move(call));
      };
      if (each.which == Which::One) {
        add(id);
      } else if (each.which == Which::Each) {
        for (std::string_view rest = id; !rest.empty();) {
          const std::size_t comma = std::min(rest.find(','), rest.size());
          add(rest.substr(0, comma));
          rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
      } else {
        std::string_view above = id;
        for (std::size_t slash = above.rfind('/'); slash != above.npos && slash > 0;
             slash = above.rfind('/')) {
          above = above.substr(0, slash);
          add(above);
        }
      }
    }
    return wanted;
  }

  bool is_absent() const {
    if (!from_.absent_if) return false;
    const std::string* const value = item_->property(from_.absent_if->property);
    const auto& values = from_.absent_if->values;
    return value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  }

  const Node* subject(TemplateScope scope) const {
    switch (scope) {
      case TemplateScope::Item:
        return item_;
      case TemplateScope::Parent:
        return parent_item(*item_);
      case TemplateScope::Node:
        return &node_;
      case TemplateScope::Cluster:
        break;
    }
    const Node* const cluster = find_above(*item_, "cluster-base");
    return cluster != nullptr ? cluster : find_above(node_, "cluster-base");
  }

  // Nothing: it is not set.
  std::optional<std::string> value_of(const TemplateReference& reference) const {
    const Node* const about = subject(reference.scope);
    if (about == nullptr) return std::nullopt;
    if (reference.what == TemplateReference::What::Id) return about->id();
    if (reference.what == TemplateReference::What::Path) return about->path().text();
    for (const std::string& name : reference.properties) {
      if (const std::string* value = about->property(name)) return *value;
    }
    return std::nullopt;
  }

  // Nothing: something in it that may be unset is.
  std::optional<std::string> text_of(const TemplateText& text) {
    std::string made;
    for (const auto& part : text.parts) {
      if (const auto* literal = std::get_if<std::string>(&part)) {
        made += *literal;
        continue;
      }
      const auto& reference = std::get<TemplateReference>(part);
      const std::optional<std::string> value = value_of(reference);
      if (value) {
        made += *value;
      } else if (reference.optional) {
        return std::nullopt;
      } else {
        wrong(text.place,
              reference.properties.empty()
                  ? "what the template names is not there"
                  : fmt::format("{} is not set", model::quoted_list(reference.properties)));
      }
    }
    return made;
  }

  // A secret or a view, which is only known when the task is sent to its node.
  std::optional<Json> future_of(const TemplateText& text) {
    const TemplateReference* const reference = text.whole();
    if (reference == nullptr) return std::nullopt;
    const Node* const about = subject(reference->scope);
    if (about == nullptr) return std::nullopt;
    const model::ItemType& type = *about->item().type;
    for (const std::string& name : reference->properties) {
      const model::Property* const property = type.find_property(name);
      const bool is_set = property != nullptr && about->property(name) != nullptr;
      if (is_set && !property->definition.secret) return std::nullopt;
      if (!is_set && !type.views.contains(name)) continue;
      has_future_ = true;
      return Json{{"$future", {{"item", about->path().text()}, {"property", name}}}};
    }
    return std::nullopt;
  }

  std::optional<Json> scalar_of(const TemplateText& text) {
    if (std::optional<Json> future = future_of(text)) return future;
    std::optional<std::string> made = text_of(text);
    if (!made) return std::nullopt;
    return Json(std::move(*made));
  }

  std::optional<Json> json_of(const TemplateValue& value) {
    if (const auto* text = std::get_if<TemplateText>(&value.data)) return scalar_of(*text);
    if (const auto* fields = std::get_if<TemplateFields>(&value.data)) return fields_of(*fields);
    if (const auto* fill = std::get_if<TemplateFill>(&value.data)) {
      const std::optional<std::string> text = text_of(fill->text);
      if (!text) return std::nullopt;
      return Json(filled(*text, value.place));
    }
    if (const auto* collect = std::get_if<TemplateCollect>(&value.data)) {
      return collected(*collect);
    }
    Json list = Json::array();
    for (const TemplateValue& inner : std::get<std::vector<TemplateValue>>(value.data)) {
      if (std::optional<Json> made = json_of(inner)) list.push_back(std::move(*made));
    }
    return list;
  }

  Json fields_of(const TemplateFields& fields) {
    Json object = Json::object();
    for (const auto& [name, value] : fields) {
      if (std::optional<Json> made = json_of(value)) object[name] = std::move(*made);
    }
    return object;
  }

  Json collected(const TemplateCollect& collect) {
    Json object = Json::object();
    const Node* const collection = item_->find_child(collect.collection);
    if (collection == nullptr) return object;
    const Node* const outer = item_;
    for (const auto& member : collection->children()) {
      if (member->item().state != ItemState::Applied) collected_.insert(member->path());
      // What goes with the whole is still part of it.
      if (is_going(*member) && !is_going(*outer)) continue;
      item_ = member.get();
      const std::string key = text_of(collect.key).value_or("");
      if (object.contains(key)) {
        wrong(collect.key.place, fmt::format("two items of '{}' are called {}", collect.collection,
                                             model::quoted(key)));
      } else if (std::optional<Json> made = scalar_of(collect.value)) {
        object[key] = std::move(*made);
      }
      item_ = outer;
    }
    return object;
  }

  // {{ name }} in `text` are properties of the node, or cluster.id.
  std::string filled(std::string_view text, const model::Place& place) {
    std::string made;
    while (true) {
      const std::size_t open = text.find("{{");
      const std::size_t close = open == text.npos ? text.npos : text.find("}}", open);
      made += text.substr(0, close == text.npos ? text.npos : open);
      if (close == text.npos) return made;
      std::string_view name = text.substr(open + 2, close - open - 2);
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      made += node_value(name, place);
      text.remove_prefix(close + 2);
    }
  }

  std::string node_value(std::string_view name, const model::Place& place) {
    if (name == "cluster.id") {
      const Node* const cluster = subject(TemplateScope::Cluster);
      if (cluster != nullptr) return cluster->id();
      wrong(place, "'{{ cluster.id }}' has no value: the node is in no cluster");
      return {};
    }
    const model::ItemType& type = *node_.item().type;
    const model::Property* const property = type.find_property(name);
    if (property == nullptr || property->definition.secret) {
      std::vector<std::string_view> known = {"cluster.id"};
      for (const auto& [id, definition] : type.properties) known.push_back(id);
      wrong(place, fmt::format("'{{{{ {} }}}}' is no property of {} that could be shown{}", name,
                               node_.path().text(), did_you_mean(name, known)));
      return {};
    }
    const std::string* const value = node_.property(name);
    return value == nullptr ? "" : *value;
  }

  void wrong(const model::Place& place, std::string message) {
    failed_ = true;
    out_.errors.push_back({from_.pack, item_->path(), place, std::move(message)});
  }

  const TaskTemplate& from_;
  const Node* item_;  // in a collection, the member in hand
  const Node& node_;
  TemplateTasks& out_;
  TemplateOrder& order_;
  std::set<model::Path> collected_;
  bool has_future_ = false;
  bool failed_ = false;
};

// Whether anything that the template collects below the item waits for a plan.
bool collects_changes(const TemplateFields& fields, const Node& item);

bool collects_changes(const TemplateValue& value, const Node& item) {
  if (const auto* fields = std::get_if<TemplateFields>(&value.data)) {
    return collects_changes(*fields, item);
  }
  const auto* collect = std::get_if<TemplateCollect>(&value.data);
  const Node* const collection =
      collect == nullptr ? nullptr : item.find_child(collect->collection);
  if (collection == nullptr) return false;
  return std::any_of(collection->children().begin(), collection->children().end(),
                     [](const auto& m) { return m->item().state != ItemState::Applied; });
}

bool collects_changes(const TemplateFields& fields, const Node& item) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto& field) { return collects_changes(field.value, item); });
}

bool is_changed(const Node* node) {
  return node != nullptr &&
         (node->item().state == ItemState::Initial || node->item().state == ItemState::Updated);
}

// Whether an item that is Applied itself may have another task than before, because it is made from
// others. One that comes out the same is left out of the plan.
bool reads_changes(const TemplateReads& reads, const Node& item, const Node& node) {
  return (reads.parent && is_changed(parent_item(item))) || (reads.node && is_changed(&node)) ||
         (reads.cluster && (is_changed(find_above(item, "cluster-base")) ||
                            is_changed(find_above(node, "cluster-base"))));
}

// Whether the item stands below one that has what the template puts in of it. Elsewhere, what comes
// of the item is up to the pack that has put it there; a secret of that is not shown.
bool is_for(const TaskTemplate& one, const Node& item) {
  if (one.reads.of_parent.empty()) return true;
  const Node* const parent = parent_item(item);
  if (parent == nullptr) return false;
  const model::ItemType& type = *parent->item().type;
  for (const ParentReference& reference : one.reads.of_parent) {
    bool is_set = reference.optional;
    for (const std::string& name : reference.properties) {
      const bool is_view = type.views.contains(name);
      if ((is_view || type.is_secret(name)) && !reference.may_be_hidden) return false;
      is_set = is_set || is_view || parent->property(name) != nullptr;
    }
    if (!is_set) return false;
  }
  return true;
}

class Walker {
 public:
  Walker(const TaskTemplates& templates, TemplateTasks& out) : templates_(templates), out_(out) {}

  void run(const Node& root) {
    walk(root);
    if (out_.good()) std::move(order_).settle(out_.tasks);
  }

 private:
  void walk(const Node& item) {
    if (!item.item().is_collection()) {
      const auto& list = templates_.of(*item.item().type);
      if (!list.empty()) make(item, list);
    }
    for (const auto& child : item.children()) walk(*child);
  }

  void make(const Node& item, const std::vector<const TaskTemplate*>& list) {
    const Node* node = find_above(item, "node");
    if (node == nullptr) node = find_above(item, "ms");
    if (node != nullptr) {
      make_on(item, *node, item.item().state, list);
      return;
    }
    const Node* const cluster = find_above(item, "cluster-base");
    if (cluster == nullptr) return;
    for (const auto& below : cluster->children()) {
      if (!below->item().is_collection()) continue;
      for (const auto& member : below->children()) {
        if (!is_of(*member, "node")) continue;
        // To a node that is new, everything that its cluster has is new.
        const bool is_new =
            member->item().state == ItemState::Initial && item.item().state == ItemState::Applied;
        make_on(item, *member, is_new ? ItemState::Initial : item.item().state, list);
      }
    }
  }

  void make_on(const Node& item, const Node& node, ItemState state,
               const std::vector<const TaskTemplate*>& list) {
    if (is_going(node)) return;
    for (const TaskTemplate* one : list) {
      const bool wanted =
          one->has_state(state) ||
          (state == ItemState::Applied && one->has_state(ItemState::Updated) &&
           (reads_changes(one->reads, item, node) || collects_changes(one->attributes, item)));
      const bool able =
          std::all_of(one->if_set.begin(), one->if_set.end(),
                      [&](const std::string& name) { return item.property(name) != nullptr; });
      if (wanted && able && is_for(*one, item)) Filler(*one, item, node, out_, order_).make();
    }
  }

  const TaskTemplates& templates_;
  TemplateTasks& out_;
  TemplateOrder order_;
};

}  // namespace

TemplateTasks template_tasks(const model::Tree& tree, const TaskTemplates& templates) {
  TemplateTasks made;
  if (!templates.empty()) Walker(templates, made).run(tree.root());
  return made;
}

}  // namespace muster::plan
