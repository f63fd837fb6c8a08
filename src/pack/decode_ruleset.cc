#include <fmt/format.h>

#include <array>

#include "model/quoted.h"
#include "pack/decode.h"

namespace muster::pack {
namespace {

using document::Document;
using document::MapReader;
using document::Problems;

constexpr std::size_t kGroupsMax = 100;
constexpr std::array<std::string_view, 3> kTasks = {"config", "callback", "remote"};
constexpr std::array<std::string_view, 2> kNodes = {"ms", "managed"};

std::vector<plan::TaskKind> decode_tasks(MapReader& reader) {
  std::vector<plan::TaskKind> tasks;
  for (const std::string& word : reader.texts("task")) {
    bool known = false;
    for (std::size_t i = 0; i < kTasks.size(); ++i) {
      if (word != kTasks[i]) continue;
      tasks.push_back(static_cast<plan::TaskKind>(i));
      known = true;
    }
    if (!known) {
      reader.invalid("task", fmt::format("{} is no kind of task; config, callback and remote are",
                                         model::quoted(word)));
    }
  }
  return tasks;
}

plan::Condition decode_condition(MapReader& reader) {
  plan::Condition condition;
  condition.place = reader.place();
  condition.tasks = decode_tasks(reader);
  condition.tag = reader.text("tag").value_or("");
  if (const std::optional<std::size_t> node = reader.choice("node", kNodes)) {
    condition.node = *node == 0 ? plan::NodeKind::Ms : plan::NodeKind::Managed;
  }
  condition.item_below = reader.text("item_below").value_or("");
  condition.item_not_below = reader.text("item_not_below").value_or("");
  condition.initial_locks = reader.flag("initial_locks").value_or(false);
  return condition;
}

plan::Group decode_group(const Document& file, const document::Value& value, Problems& problems) {
  MapReader reader(file, value, "a group", problems);
  plan::Group group;
  group.place = reader.place();
  group.name = reader.required_text("name");
  group.tag = reader.text("tag").value_or("");
  group.description = reader.text("description").value_or("");
  group.requires_groups = reader.texts("requires");
  group.per_cluster = reader.flag("per_cluster").value_or(false);
  group.lockable = reader.flag("lockable").value_or(false);
  group.takes_unmatched = reader.flag("takes_unmatched").value_or(false);
  if (const document::List* criteria = reader.list("criteria")) {
    for (const document::Value& criterion : *criteria) {
      MapReader fields(file, criterion, "a criterion", problems);
      group.criteria.push_back(decode_condition(fields));
      fields.finish();
    }
  }
  if (const document::List* constraints = reader.list("constraints")) {
    for (const document::Value& constraint : *constraints) {
      MapReader fields(file, constraint, "a constraint", problems);
      plan::Constraint made;
      made.must = decode_condition(fields);
      made.reason = fields.required_text("reason");
      fields.finish();
      group.constraints.push_back(std::move(made));
    }
  }
  reader.finish();
  return group;
}

}  // namespace

std::vector<plan::Group> decode_ruleset(const Document& file, Problems& problems) {
  MapReader reader(file, file.root, "a ruleset", problems);
  std::vector<plan::Group> groups;
  const document::List* const list = reader.list("groups");
  if (list != nullptr && list->size() > kGroupsMax) {
    problems.add(reader.place("groups"),
                 fmt::format("{} groups; at most {} are allowed", list->size(), kGroupsMax));
  } else if (list != nullptr) {
    for (const document::Value& value : *list) {
      groups.push_back(decode_group(file, value, problems));
    }
  }
  reader.finish();
  return groups;
}

}  // namespace muster::pack
