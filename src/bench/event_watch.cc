#include "bench/event_watch.h"

#include <array>

#include "http/client.h"

namespace muster::bench {
namespace {

// A wait looks up this often whether somebody has ended the benchmark.
constexpr auto kEventsLook = std::chrono::milliseconds(100);

// Events are JSON with sorted keys and no spaces, so the status need not be parsed to be seen; the
// client must not take the time that it is there to measure.
constexpr std::string_view kSucceeded = R"("status":"SUCCEEDED")";
constexpr std::array<std::string_view, 3> kEndedBadly = {
    R"("status":"FAILED")", R"("status":"CANCELLED")", R"("status":"LOST")"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<EventWatch>> EventWatch::start(const ControllerProcess& controller,
                                                      const Host& host) {
  MUSTER_TRY_ASSIGN(const std::uint64_t last, controller.last_event());
  return std::unique_ptr<EventWatch>(new EventWatch(controller, host, last));
}

EventWatch::EventWatch(const ControllerProcess& controller, const Host& host, std::uint64_t after)
    : controller_(controller), host_(host) {
  thread_ = std::thread([this, after] { run(after); });
}

EventWatch::~EventWatch() {
  stopping_ = true;
  thread_.join();
}

void EventWatch::run(std::uint64_t after) {
  http::ClientRequest request;
  request.url = fmt::format("http://controller/v1/events?type=action.status&after={}", after);
  request.unix_socket = controller_.socket();
  request.headers = {{"Accept", "text/event-stream"}};
  request.timeout = {};
  request.cancelled = [this] { return stopping_.load(); };
  request.on_data = [this](std::string_view bytes) { return take(bytes); };
  const auto answer = http::perform(request);
  const std::lock_guard lock(mutex_);
  problem_ = answer ? Error{ErrorCode::Unavailable,
                            fmt::format("the event stream ended with status {}", answer->status)}
                    : answer.error();
  changed_.notify_all();
}

bool EventWatch::take(std::string_view bytes) {
  partial_.append(bytes);
  std::size_t begin = 0;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos;
       end = partial_.find('\n', begin)) {
    take_line(std::string_view(partial_).substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return !stopping_;
}

void EventWatch::take_line(std::string_view line) {
  if (!line.starts_with("data:")) return;
  const bool succeeded = contains(line, kSucceeded);
  bool ended = succeeded;
  for (const std::string_view status : kEndedBadly) ended = ended || contains(line, status);
  if (!ended) return;
  const std::lock_guard lock(mutex_);
  ++ended_;
  last_end_ = Stopwatch::now();
  if (!succeeded) ++not_succeeded_;
  changed_.notify_all();
}

Result<Stopwatch::Moment> EventWatch::wait_ended(std::size_t count, Duration deadline) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(deadline.us);
  std::unique_lock lock(mutex_);
  while (ended_ < count) {
    if (problem_) return fail(*problem_);
    if (host_.interrupted()) return fail(interrupted_error());
    if (std::chrono::steady_clock::now() >= until) {
      return fail(ErrorCode::Timeout, "{} of {} actions ended within {}", ended_, count,
                  format_duration(deadline));
    }
    changed_.wait_for(lock, kEventsLook, [&] { return ended_ >= count || problem_.has_value(); });
  }
  return last_end_;
}

std::size_t EventWatch::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::size_t EventWatch::not_succeeded() const {
  const std::lock_guard lock(mutex_);
  return not_succeeded_;
}

}  // namespace muster::bench
