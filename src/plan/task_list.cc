#include "plan/task_list.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace muster::plan {
namespace {

// Room that is not used is at most so much of what is.
constexpr std::size_t kSlack = 16;

}  // namespace

TaskList::TaskList(std::vector<Task> own, std::size_t more) : own_(std::move(own)) {
  const std::size_t wanted = own_.size() + more;
  if (own_.capacity() < wanted || own_.capacity() > wanted + wanted / kSlack) grow(wanted);
}

void TaskList::grow(std::size_t capacity) {
  std::vector<Task> grown;
  grown.reserve(capacity);
  std::move(own_.begin(), own_.end(), std::back_inserter(grown));
  own_ = std::move(grown);
}

void TaskList::add(Task task) {
  if (own_.size() == own_.capacity()) grow(own_.size() + size() / kSlack + 1);
  own_.push_back(std::move(task));
}

std::vector<Task>& TaskList::own() {
  MUSTER_CHECK(lent_.empty(), "{} tasks are lent", lent_.size());
  return own_;
}

}  // namespace muster::plan
