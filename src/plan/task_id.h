#pragma once

#include <compare>
#include <string>

#include "model/path.h"
#include "plan/task.h"

// What makes two tasks the same task, from one plan to the next.

namespace muster::plan {

// The name of a task: the same in every plan that has it, different from that of any other task,
// readable, and fit to stand in a URL and on a command line as it is. It begins with the kind:
//
//   config:deployments,site,clusters,db,nodes,n1:package:nginx          node and call
//   callback:web:deployments,site,clusters,db:reload                    plugin, item and method
//   remote:deployments,site,clusters,db:exec:ms                         item, action and node
//
// A '/' is written as ','; what else is not a letter, digit, '_', '-' or '.' as ~ and two hex
// digits. Arguments other than {} follow as a digest of 128 bits, as do nodes where there are
// several.
std::string task_id(const Task& task);

// A path as it stands in the name of a task: without the first '/'.
std::string path_in_id(const model::Path& path);

// Orders tasks by what makes them the same, then by plugin. Equal: they have the same name and come
// from the same plugin.
std::strong_ordering compare_identity(const Task& a, const Task& b);

// They have the same name.
bool same_task(const Task& a, const Task& b);

// "config:... of plugin 'web' for /software/items/a", as errors name a task.
std::string describe(const Task& task);

}  // namespace muster::plan
