#include "agent/output_waiter.h"

#include <algorithm>
#include <utility>

namespace muster::agent {

void OutputWaiter::request(OutputRequest request, Clock::time_point now) {
  request.limit = std::clamp<std::size_t>(request.limit, 1, options_.chunk_max);
  if (request.delay.us > 0) {
    const auto delay = std::min(request.delay, options_.wait_max);
    return park(std::move(request), now + std::chrono::microseconds(delay.us));
  }
  auto chunk = read(request);
  const bool room = !request.from_link || parked_of_link_ < options_.parked_max;
  if (is_answer(chunk) || !request.wait || !room) {
    request.reply(std::move(chunk));
    return;
  }
  park(std::move(request), now + std::chrono::microseconds(options_.wait_max.us));
}

void OutputWaiter::on_output(const core::ActionId& id) {
  for (auto it = parked_.begin(); it != parked_.end();) {
    const auto current = it++;
    if (current->second.id != id || current->second.delay.us > 0) continue;
    auto chunk = read(current->second);
    if (is_answer(chunk)) unpark(current).reply(std::move(chunk));
  }
}

void OutputWaiter::on_deadline(Clock::time_point now) {
  while (!parked_.empty() && parked_.begin()->first <= now) {
    const OutputRequest request = unpark(parked_.begin());
    request.reply(read(request));
  }
}

void OutputWaiter::drop_link_requests() {
  std::erase_if(parked_, [](const auto& parked) { return parked.second.from_link; });
  parked_of_link_ = 0;
}

void OutputWaiter::refuse_all(const Error& error) {
  parked_of_link_ = 0;
  for (const auto& [deadline, request] : std::exchange(parked_, {})) {
    request.reply(fail(Error(error)));
  }
}

std::optional<OutputWaiter::Clock::time_point> OutputWaiter::next_deadline() const {
  if (parked_.empty()) return std::nullopt;
  return parked_.begin()->first;
}

void OutputWaiter::park(OutputRequest request, Clock::time_point deadline) {
  if (request.from_link) ++parked_of_link_;
  parked_.emplace(deadline, std::move(request));
}

OutputRequest OutputWaiter::unpark(
    std::multimap<Clock::time_point, OutputRequest>::iterator parked) {
  OutputRequest request = std::move(parked->second);
  if (request.from_link) --parked_of_link_;
  parked_.erase(parked);
  return request;
}

exec::OutputChunk OutputWaiter::read(const OutputRequest& request) const {
  const auto entry = core_.find(request.id);
  const std::uint32_t attempt = request.attempt == 0 && entry ? entry->attempt : request.attempt;
  auto chunk = executor_.read_output(request.id, attempt, request.offset, request.limit);
  if (chunk.known) return chunk;
  // A run that has not begun has no output yet, which is not the same as never having any.
  const bool to_come = entry && !entry->is_final() && entry->attempt == attempt;
  chunk.known = to_come;
  chunk.end = !to_come;
  return chunk;
}

bool OutputWaiter::is_answer(const exec::OutputChunk& chunk) {
  return !chunk.data.empty() || chunk.end;
}

}  // namespace muster::agent
