#include "agent/inbox.h"

#include <algorithm>

namespace muster::agent {
namespace {

bool is_request(const InboxItem& item) {
  return std::holds_alternative<LocalRequest>(item) || std::holds_alternative<CoreQuery>(item) ||
         std::holds_alternative<OutputRequest>(item);
}

}  // namespace

void refuse(const InboxItem& item, const Error& error) {
  if (const auto* request = std::get_if<LocalRequest>(&item)) {
    request->reply(fail(Error(error)));
  } else if (const auto* query = std::get_if<CoreQuery>(&item)) {
    query->reply(fail(Error(error)));
  } else if (const auto* output = std::get_if<OutputRequest>(&item)) {
    output->reply(fail(Error(error)));
  }
}

bool Inbox::push_wait(InboxItem item) {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [&] { return closed_ || items_.size() < size_max_; });
  if (closed_) return false;
  items_.push_back(std::move(item));
  filled_.notify_one();
  return true;
}

bool Inbox::push_wait_all(std::vector<InboxItem> items) {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [&] { return closed_ || items_.size() < size_max_; });
  if (closed_) return false;
  for (auto& item : items) items_.push_back(std::move(item));
  filled_.notify_one();
  return true;
}

void Inbox::push_now(InboxItem item) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  items_.push_back(std::move(item));
  filled_.notify_one();
}

void Inbox::push_or_refuse(InboxItem item) {
  Error error{ErrorCode::Unavailable, "the agent is stopping"};
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && items_.size() < size_max_) {
      items_.push_back(std::move(item));
      filled_.notify_one();
      return;
    }
    if (!closed_) {
      error = {ErrorCode::Overloaded,
               fmt::format("the agent has {} requests waiting, at most {} are taken", items_.size(),
                           size_max_)};
    }
  }
  refuse(item, error);
}

void Inbox::notify_output(const core::ActionId& id) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  outputs_.insert(id);
  filled_.notify_one();
}

Inbox::Taken Inbox::take(std::size_t items_max, Clock::time_point until) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, until, [&] { return closed_ || !items_.empty() || !outputs_.empty(); });
  Taken taken;
  taken.closed = closed_;
  taken.outputs.swap(outputs_);
  const std::size_t count = std::min(items_max, items_.size());
  taken.items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    taken.items.push_back(std::move(items_.front()));
    items_.pop_front();
  }
  drained_.notify_all();
  return taken;
}

std::vector<InboxItem> Inbox::take_requests() {
  const std::lock_guard lock(mutex_);
  std::vector<InboxItem> requests;
  std::deque<InboxItem> rest;
  for (auto& item : items_) {
    if (is_request(item)) {
      requests.push_back(std::move(item));
    } else {
      rest.push_back(std::move(item));
    }
  }
  items_.swap(rest);
  drained_.notify_all();
  return requests;
}

bool Inbox::wait_closed(Clock::duration timeout) {
  std::unique_lock lock(mutex_);
  return closing_.wait_for(lock, timeout, [&] { return closed_; });
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
  drained_.notify_all();
  closing_.notify_all();
}

}  // namespace muster::agent
