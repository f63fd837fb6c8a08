#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/item.h"
#include "model/place.h"
#include "model/schema.h"
#include "model/tree.h"
#include "plan/task.h"

// Task templates: the task to make for an item of a type in a state, with values of the model put
// in. No loops and no language: what they cannot say is said by a plugin.

namespace muster::plan {

// Whose value is put in.
enum class TemplateScope : std::uint8_t {
  Item,     // the item itself
  Parent,   // the item above it; collections do not count
  Node,     // the node or management server that the task is for
  Cluster,  // the cluster above the item or its node
};

// What stands between "${" and "}".
struct TemplateReference {
  TemplateScope scope = TemplateScope::Item;
  enum class What : std::uint8_t { Property, Id, Path };
  What what = What::Property;
  std::vector<std::string> properties;  // the first that is set counts
  bool optional = false;                // unset: what it stands in is left out

  bool operator==(const TemplateReference&) const = default;
};

// "install ${name}".
struct TemplateText {
  std::vector<std::variant<std::string, TemplateReference>> parts;
  model::Place place = {};

  // It is one reference and nothing else.
  const TemplateReference* whole() const;
  bool same_as(const TemplateText& other) const { return parts == other.parts; }
};

struct TemplateField;
using TemplateFields = std::vector<TemplateField>;

// A mapping with an entry for each member of a collection of the item.
struct TemplateCollect {
  std::string collection;
  TemplateText key;
  TemplateText value;
};
// A text in which {{ name }} stands for a property of the node.
struct TemplateFill {
  TemplateText text;
};

struct TemplateValue {
  std::variant<TemplateText, std::vector<TemplateValue>, TemplateFields, TemplateCollect,
               TemplateFill>
      data;
  model::Place place;
};

struct TemplateField {
  std::string name;
  TemplateValue value;
};

struct TemplateCall {
  TemplateText type;
  TemplateText id;
};

// Resources of the task's node that come first.
struct TemplateRequirement {
  enum class Which : std::uint8_t {
    One,    // the one that `call` names
    Each,   // one for each word of call.id, a list with commas
    Above,  // one for each path above call.id, which is a path
    Every,  // all of the type; there is no id
  };
  Which which = Which::One;
  TemplateCall call;
};

// A property and the values of it with which the task takes its resource away.
struct TemplateAbsence {
  std::string property;
  std::vector<std::string> values;
};

// What a template puts in of the item above its own, which may be of any type that some pack has
// put it below.
struct ParentReference {
  std::vector<std::string> properties;  // the first that is set counts
  bool optional = false;
  bool may_be_hidden = false;  // a secret or a view can stand there
};

// Whose properties a template puts in, beside those of its item.
struct TemplateReads {
  bool parent = false;
  bool node = false;
  bool cluster = false;
  std::vector<ParentReference> of_parent = {};
};

struct TaskTemplate {
  std::string pack;
  std::string type;
  std::vector<model::ItemState> states;
  std::vector<std::string> if_set;   // properties of the item without which there is no task
  TaskKind kind = TaskKind::Config;  // or Remote
  TemplateText description;
  TemplateCall call;  // Config
  std::vector<TemplateCall> replaces;
  bool persist = true;
  std::string action;         // Remote
  TemplateFields attributes;  // Config; of Remote the inputs
  std::vector<TemplateRequirement> requirements;
  std::optional<TemplateAbsence> absent_if;
  std::string tag;
  model::Place place;
  TemplateReads reads;  // set by build_templates()

  bool has_state(model::ItemState state) const;
};

TemplateReads reads_of(const TaskTemplate& one);

// Reads the references of a text. Not empty: what is wrong with it.
std::string parse_template_text(std::string_view text, TemplateText& parsed);

// Templates that were checked against the types, by type.
class TaskTemplates {
 public:
  // Those of the nearest type along `extends` that has any.
  const std::vector<const TaskTemplate*>& of(const model::ItemType& type) const;
  bool empty() const { return templates_.empty(); }
  std::size_t size() const { return templates_.size(); }

 private:
  friend class TemplateChecker;

  std::vector<std::shared_ptr<const TaskTemplate>> templates_;
  std::map<std::string, std::vector<const TaskTemplate*>, std::less<>> by_type_;
};

struct BuiltTemplates {
  std::optional<TaskTemplates> templates;      // nothing if there is any error
  std::vector<model::DefinitionError> errors;  // all of them, in the order of their places
};

// Checks templates against the types: unknown types, types of other packs, properties and
// collections that there are not, values that may be unset where one is needed, secrets inside of a
// text, unknown tags, two templates for one resource.
BuiltTemplates build_templates(std::vector<TaskTemplate> templates, const model::Schema& schema,
                               const std::vector<std::string>& tags);

// A template that could not be filled in for an item.
struct TemplateError {
  std::string pack;
  model::Path item;
  model::Place place;
  std::string message;
};

struct TemplateTasks {
  std::vector<Task> tasks;  // in the order of the tree
  std::vector<TemplateError> errors;

  bool good() const { return errors.empty(); }
};

// The tasks of all items that have a template for their state, and of Applied ones whose templates
// read something of a parent, node or cluster that has changed. An item at or below a node (or the
// management server) has tasks there; one below a cluster only has them on each of its nodes; any
// other is declared for others to take over and has none. Nodes that wait for removal get none.
//
// What a task requires is turned round where resources are taken away: what it names, and is taken
// away too, waits for it. A resource that one item leaves and another asks for has one task, that
// of the latter.
TemplateTasks template_tasks(const model::Tree& tree, const TaskTemplates& templates);

}  // namespace muster::plan
