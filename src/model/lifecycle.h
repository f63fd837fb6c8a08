#pragma once

#include <vector>

#include "model/edit.h"
#include "model/item_checks.h"
#include "model/path.h"
#include "model/tree.h"

// What the running of a plan does to the items that its tasks are for.

namespace muster::model {

// All tasks of the plan that the items are associated with have succeeded: what waited for removal
// is Removed, everything else Applied. Items that are gone are passed over.
ChangeSet tasks_succeeded(Tree& tree, const std::vector<Path>& items);

// How the tasks of one item went, over the whole plan. Tasks that lock or unlock a node do not
// count.
struct ItemTasks {
  Path path;
  bool any_ran = false;
  bool all_succeeded = false;
};

// The plan has ended, one way or the other. Removed items go, deepest first; one that has to stay,
// because something below it or something that inherits from it was not removed, waits for removal
// again. After a success everything else is Applied. Then it is settled whether what is on the
// hosts can be told from the applied properties.
ChangeSet plan_ended(Tree& tree, bool successful, const std::vector<ItemTasks>& items);

// Everything but what is at or below `excluded` is to be made anew.
ChangeSet prepare_restore(Tree& tree, const std::vector<Path>& excluded);

// What must hold before a plan can be made: required items are there, collections hold as many
// items as they should, every property is right, and so is what types say about several items
// (cross_checks.h). What waits for removal does not count.
Findings check_complete(const Tree& tree, const Answers& answers = {});

}  // namespace muster::model
