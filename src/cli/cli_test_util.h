#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"

namespace muster::cli {

// A context whose streams, clock and signals are in the test's hands. Sleeping moves the clock.
struct TestContext {
  std::string out;
  std::string err;
  Timestamp now{1'763'233'200'000'000};  // 2025-11-15T19:00:00Z
  bool interrupted = false;
  std::vector<Duration> slept;
  Context context;

  TestContext() {
    context.console = Console(
        [this](std::string_view text) {
          out += text;
          return true;
        },
        [this](std::string_view text) {
          err += text;
          return true;
        });
    context.environment.now = [this] { return now; };
    context.environment.sleep = [this](Duration duration) {
      slept.push_back(duration);
      now = now + duration;
    };
    context.environment.random = [n = std::uint64_t{7}]() mutable { return n += 1000; };
    context.environment.interrupted = [this] { return interrupted; };
    context.environment.env = [](const char*) { return std::nullopt; };
    context.terminal.utf8 = true;
  }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
};

// A controller made of canned answers: each request takes the next one and is kept.
class FakeController {
 public:
  using Answer = std::function<Result<http::ClientResponse>(const http::ClientRequest&)>;

  void then(Answer answer) { answers_.push_back(std::move(answer)); }
  void then_json(int status, const Json& body) {
    then([status, body](const http::ClientRequest&) -> Result<http::ClientResponse> {
      return http::ClientResponse{status, {}, dump_json(body)};
    });
  }
  void then_unreachable() {
    then([](const http::ClientRequest&) -> Result<http::ClientResponse> {
      return fail(ErrorCode::Unavailable, "connection refused");
    });
  }
  // A stream that hands over `chunks` and then ends as `end` says.
  void then_stream(std::vector<std::string> chunks, Result<http::ClientResponse> end) {
    then([chunks = std::move(chunks), end = std::move(end)](
             const http::ClientRequest& request) -> Result<http::ClientResponse> {
      for (const std::string& chunk : chunks) {
        if (request.cancelled && request.cancelled()) {
          return fail(ErrorCode::Unavailable, "cancelled");
        }
        if (!request.on_data(chunk)) return http::ClientResponse{200, {}, ""};
      }
      return end;
    });
  }

  ApiClient client() {
    Endpoint endpoint;
    endpoint.base_url = "http://test";
    return ApiClient(endpoint, "the controller",
                     [this](const http::ClientRequest& request) { return perform(request); });
  }

  const std::vector<http::ClientRequest>& requests() const { return requests_; }
  bool done() const { return answers_.empty(); }

 private:
  Result<http::ClientResponse> perform(const http::ClientRequest& request) {
    requests_.push_back(request);
    if (answers_.empty()) return fail(ErrorCode::Internal, "unexpected request {}", request.url);
    const Answer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer(request);
  }

  std::deque<Answer> answers_;
  std::vector<http::ClientRequest> requests_;
};

inline std::string sse_of(const Json& event) {
  return "id: " + dump_json(event["seq"]) + "\nevent: action.status\ndata: " + dump_json(event) +
         "\n\n";
}

}  // namespace muster::cli
