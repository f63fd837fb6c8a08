#include "bench/controller_process.h"

#include <atomic>
#include <charconv>

#include "bench/stopwatch.h"
#include "http/client.h"

namespace muster::bench {
namespace {

constexpr Duration kReadyWithin = Duration::minutes(3);
constexpr Duration kReadyLook = Duration::millis(2);
constexpr Duration kFinishedLook = Duration::millis(10);
constexpr std::size_t kQuotedMax = 400;

Result<std::string> call(http::ClientRequest request) {
  MUSTER_TRY_ASSIGN(const http::ClientResponse answer, http::perform(request));
  if (answer.status < 300) return answer.body;
  return fail(ErrorCode::Internal, "{} {} was answered with {}: {}", request.method, request.url,
              answer.status, answer.body.substr(0, kQuotedMax));
}

}  // namespace

Result<ControllerProcess> ControllerProcess::start(const Host& host, const std::string& directory) {
  MUSTER_TRY_ASSIGN(std::string agents, host.free_address());
  std::string socket = directory + "/muster.sock";
  MUSTER_TRY_ASSIGN(Process process, Process::start(host,
                                                    {"server", "--data-dir", directory, "--socket",
                                                     socket, "--listen", "", "--agent-listen",
                                                     agents, "--log-level", "warn"},
                                                    directory + "/server.log"));
  ControllerProcess controller(std::move(process), std::move(socket), std::move(agents));
  MUSTER_TRY(controller.wait_until_ready(host));
  return controller;
}

Result<void> ControllerProcess::wait_until_ready(const Host& host) {
  const Stopwatch watch;
  while (true) {
    if (get("/readyz")) break;
    if (host.interrupted()) return fail(interrupted_error());
    if (watch.elapsed() > kReadyWithin) {
      return fail(ErrorCode::Timeout, "the controller was not ready within {}: {}",
                  format_duration(kReadyWithin), process_.log_tail());
    }
    if (process_.wait_end(kReadyLook)) {
      return fail(ErrorCode::Internal, "the controller ended at its start: {}",
                  process_.log_tail());
    }
  }
  start_time_ = watch.elapsed();
  return {};
}

Result<std::string> ControllerProcess::get(const std::string& path) const {
  http::ClientRequest request;
  request.url = "http://controller" + path;
  request.unix_socket = socket_;
  request.timeout = Duration::minutes(1);
  return call(std::move(request));
}

Result<std::string> ControllerProcess::post(const std::string& path, std::string body) const {
  static std::atomic<std::uint64_t> number{0};
  http::ClientRequest request;
  request.method = "POST";
  request.url = "http://controller" + path;
  request.unix_socket = socket_;
  request.timeout = Duration::minutes(1);
  // With a key a request may share a connection, as those of the command line do.
  request.headers = {{"Content-Type", "application/json"},
                     {"Idempotency-Key", fmt::format("bench-{}", ++number)}};
  request.body = std::move(body);
  return call(std::move(request));
}

Result<void> ControllerProcess::submit(std::string body) const {
  MUSTER_TRY(post("/v1/actions", std::move(body)));
  return {};
}

Result<void> ControllerProcess::wait_finished(std::uint64_t count, Duration deadline,
                                              const Host& host) {
  const Stopwatch watch;
  while (true) {
    MUSTER_TRY_ASSIGN(const std::string text, get("/v1/status"));
    MUSTER_TRY_ASSIGN(const Json status, parse_json(text));
    const auto finished =
        status.value(Json::json_pointer("/store/actions_finished"), std::uint64_t{0});
    if (finished >= count) return {};
    if (host.interrupted()) return fail(interrupted_error());
    if (watch.elapsed() > deadline) {
      return fail(ErrorCode::Timeout, "{} of {} actions ended within {}", finished, count,
                  format_duration(deadline));
    }
    if (process_.wait_end(kFinishedLook)) {
      return fail(ErrorCode::Internal, "the controller ended: {}", process_.log_tail());
    }
  }
}

Result<std::uint64_t> ControllerProcess::last_event() const {
  MUSTER_TRY_ASSIGN(const std::string text, get("/v1/events?limit=1"));
  MUSTER_TRY_ASSIGN(const Json page, parse_json(text));
  return page.value("last", std::uint64_t{0});
}

Result<double> ControllerProcess::metric(std::string_view name) const {
  MUSTER_TRY_ASSIGN(const std::string text, get("/metrics"));
  const std::string line = fmt::format("\n{} ", name);
  const std::size_t found = text.find(line);
  if (found == std::string::npos) return 0.0;
  double value = 0;
  const char* begin = text.data() + found + line.size();
  std::from_chars(begin, text.data() + text.size(), value);
  return value;
}

}  // namespace muster::bench
