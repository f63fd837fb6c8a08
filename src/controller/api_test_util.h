#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "controller/api.h"
#include "controller/api_test_controller.h"
#include "store/memory_store.h"
#include "store/record_codec.h"

// What the tests of the API share: a client's end without sockets, and a whole API around a
// controller without threads.

namespace muster::controller::testing {

inline constexpr std::chrono::seconds kPatience{20};

// Takes what is written; the test may let it look slow or gone.
class FakeStream final : public http::Stream {
 public:
  bool write(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    if (!open_ || text_.size() + bytes.size() > limit_) {
      open_ = false;
      changed_.notify_all();
      return false;
    }
    text_ += bytes;
    changed_.notify_all();
    return true;
  }
  std::size_t queued() const override {
    const std::lock_guard lock(mutex_);
    return queued_;
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    open_ = false;
    changed_.notify_all();
  }
  bool open() const override {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  void on_closed(std::function<void()>) override {}

  void set_queued(std::size_t queued) {
    const std::lock_guard lock(mutex_);
    queued_ = queued;
  }
  void set_limit(std::size_t limit) {
    const std::lock_guard lock(mutex_);
    limit_ = limit;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  // False: not within the patience of the tests.
  bool wait_for(const std::function<bool(const std::string&)>& wanted) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return wanted(text_); });
  }
  bool wait_closed() const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return !open_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string text_;
  bool open_ = true;
  std::size_t queued_ = 0;
  std::size_t limit_ = std::size_t{1} << 30;
};

class FakeResponder final : public http::Responder {
 public:
  void respond(http::Response response) override {
    const std::lock_guard lock(mutex_);
    response_ = std::move(response);
    changed_.notify_all();
  }
  std::shared_ptr<http::Stream> stream(http::Response head) override {
    const std::lock_guard lock(mutex_);
    response_ = std::move(head);
    stream_ = std::make_shared<FakeStream>();
    changed_.notify_all();
    return stream_;
  }
  http::Response wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return response_.has_value(); })) {
      throw std::runtime_error("no answer");
    }
    return *response_;
  }
  std::shared_ptr<FakeStream> opened() {
    const std::lock_guard lock(mutex_);
    return stream_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<http::Response> response_;
  std::shared_ptr<FakeStream> stream_;
};

struct Answer {
  int status = 0;
  http::Response response;
  Json json;
  std::shared_ptr<FakeStream> stream;

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return {};
  }
  std::string code() const { return json.is_object() ? json.value("code", "") : ""; }
  // "pointer code" of every single mistake.
  std::vector<std::string> mistakes() const {
    std::vector<std::string> list;
    for (const Json& error : json.value("errors", Json::array())) {
      list.push_back(error.at("pointer").get<std::string>() + " " +
                     error.at("code").get<std::string>());
    }
    return list;
  }
};

// A whole API over a store of the test's choice.
class ApiRig {
 public:
  explicit ApiRig(store::Store& store, std::string temp_dir = "/nonexistent")
      : controller(store),
        hub(store),
        logs(controller,
             [this](core::SessionId session, const rpc::LogRequest& request) {
               on_log_request(session, request);
             }),
        metrics("1.2.3", controller.now()) {
    controller.on_event = [this](const core::Event& event) {
      metrics.on_event(event);
      hub.publish(event);
      hub.flush();
    };
    controller.on_measured = [this](const core::Measurement& measurement) {
      metrics.on_measured(measurement);
    };
    router = make_api({.controller = controller,
                       .events = hub,
                       .logs = logs,
                       .metrics = metrics,
                       .authorizer = authorizer,
                       .version = "1.2.3",
                       .instance_id = "test-instance",
                       .term = 7,
                       .started_at = Timestamp{1'000'000},
                       .clock = [] { return Timestamp{61'000'000}; },
                       .temp_dir = std::move(temp_dir),
                       .query_deadline = Duration::millis(300)});
    handler = make_handler(*router, metrics);
  }

  Answer call(std::string method, std::string target, std::string body = {},
              std::map<std::string, std::string> headers = {}) {
    http::Request request;
    request.method = std::move(method);
    const std::size_t question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.identity = identity;
    request.id = "request-1";
    if (!body.empty()) request.headers["content-type"] = "application/json";
    for (auto& [key, value] : headers) request.headers[key] = value;
    request.body = std::move(body);
    const auto responder = std::make_shared<FakeResponder>();
    handler(std::move(request), responder);
    Answer answer;
    answer.response = responder->wait();
    answer.status = answer.response.status;
    answer.stream = responder->opened();
    if (Result<Json> json = parse_json(answer.response.body)) answer.json = *json;
    return answer;
  }
  Answer get(std::string target) { return call("GET", std::move(target)); }
  Answer post(std::string target, const Json& body,
              std::map<std::string, std::string> headers = {}) {
    return call("POST", std::move(target), dump_json(body), std::move(headers));
  }
  // Creates one action and answers with its id.
  std::string create(const Json& action) {
    const Answer answer = post("/v1/actions", {{"action", action}});
    if (answer.status != 202) throw std::runtime_error(answer.response.body);
    return answer.json.at("action").at("id").get<std::string>();
  }

  TestController controller;
  EventHub hub;
  std::function<void(core::SessionId, const rpc::LogRequest&)> on_log_request =
      [](core::SessionId, const rpc::LogRequest&) {};
  LogBroker logs;
  Metrics metrics;
  LocalAuthorizer authorizer;
  http::Identity identity{"alice", true, "unix"};
  std::unique_ptr<http::Router> router;
  http::Handler handler;
};

}  // namespace muster::controller::testing
