#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "plan/task.h"
#include "plugin/snapshot.h"

namespace muster::plugin {

struct TaskLimits {
  std::size_t tasks_max = 2'000'000;
  std::size_t description_max = 1'000;  // bytes
  std::size_t name_max = 4'096;         // of a call's type or id, a tag, a method
  std::size_t arguments_bytes_max = std::size_t{1} << 20;
  std::size_t arguments_depth_max = 20;
  std::size_t list_max = 100'000;  // entries of requires, replaces, model_items, nodes
  std::size_t problems_max = 100;  // further ones are only counted
};

// Makes tasks from the documents of one answer of a plugin (docs/plugins.md). A function of its
// inputs; everything that is wrong is collected, each with the task (its number, its description,
// what it is for and what it does), the field and the entry. Numbers of required tasks stay those
// of the answer.
class TaskDecoder {
 public:
  // `callbacks`: the methods that the plugin says it can be called back with. Borrows the rest,
  // too.
  TaskDecoder(std::string plugin, const Snapshot& snapshot,
              const std::vector<std::string>& callbacks, const TaskLimits& limits = {});

  // What the first tasks are called in problems, instead of by their number.
  void call_tasks(std::vector<std::string> titles) { titles_ = std::move(titles); }
  // Adds the tasks of a list. False: there are too many now, and reading on is pointless.
  bool add(Json&& list);
  // Adds one task.
  void add_one(Json&& task);

  std::size_t size() const { return count_; }
  // Checks what only the whole answer can tell.
  void finish();
  const std::vector<std::string>& problems() const { return problems_; }
  // How many tasks have a problem.
  std::size_t wrong_tasks() const { return wrong_count_; }
  // REQUIRES: it was added, and is of the right shape.
  const plan::Task& task(std::size_t number) const { return tasks_[number]; }
  // Tells something about a task that the codec does not know of.
  void add_problem(std::size_t task, std::string_view field, const std::string& message);
  // REQUIRES: finish() was called, and there is no problem.
  std::vector<plan::Task> take() && { return std::move(tasks_); }

 private:
  // A resource of a node, told by the task that has it.
  struct SameResource {
    const TaskDecoder* decoder;
    std::size_t operator()(std::size_t task) const;
    bool operator()(std::size_t a, std::size_t b) const;
  };
  class Fields;

  void decode(Fields& fields, plan::Task& task);
  void decode_config(Fields& fields, plan::Task& task);
  void decode_callback(Fields& fields, plan::Task& task);
  void decode_remote(Fields& fields, plan::Task& task);
  void decode_requirements(Fields& fields, plan::Task& task);
  std::string decode_arguments(Fields& fields, const char* field, plan::Task& task);
  bool check_values(Fields& fields, const char* field, const Json& value, std::size_t depth,
                    plan::Task& task);
  void check_future(Fields& fields, const char* field, const Json& future);
  model::Path node_path(Fields& fields, const char* field, std::optional<std::size_t> entry,
                        const std::string& text);
  void tell(std::size_t task, const std::string& named, std::string_view field,
            std::string_view message);
  void tell_of_answer(std::string message);
  std::string title(std::size_t number) const;
  std::string named(std::size_t number) const;

  const std::string plugin_;
  const Snapshot& snapshot_;
  const std::vector<std::string>& callbacks_;
  const TaskLimits limits_;
  std::vector<plan::Task> tasks_;
  std::size_t count_ = 0;  // also those that were wrong
  std::unordered_set<std::size_t, SameResource, SameResource> resources_;
  std::vector<std::string> problems_;
  std::size_t unsaid_ = 0;   // problems beyond the limit
  std::vector<bool> wrong_;  // by number; as long as the last wrong one needs
  std::size_t wrong_count_ = 0;
  std::vector<std::string> titles_;
  std::string last_node_;  // tasks of one node tend to come together
};

}  // namespace muster::plugin
