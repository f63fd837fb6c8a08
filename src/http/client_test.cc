#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "http/server.h"
#include "http/test_support.h"

namespace muster::http {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

std::unique_ptr<Server> start(Handler handler) {
  auto server = Server::start(tcp_options(), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

TEST(Client, SendsEveryMethodWithItsBody) {
  const auto server = start([](Request request, auto responder) {
    responder->respond({.status = 200,
                        .headers = {{"X-Seen", request.method + ":" + request.headers["x-empty"] +
                                                   ":" + request.headers["content-type"]}},
                        .body = request.body});
  });
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    ClientRequest request;
    request.method = method;
    request.url = url_of(*server, "/");
    request.body = "payload";
    request.headers = {{"X-Empty", ""}};
    const auto response = perform(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "payload") << method;
    EXPECT_EQ(response->header("X-SEEN"), std::string(method) + "::");
    request.body.clear();
    EXPECT_EQ(perform(request)->header("x-seen"), std::string(method) + "::");
  }
  ClientRequest head;
  head.method = "HEAD";
  head.url = url_of(*server, "/");
  EXPECT_EQ(perform(head)->header("x-seen"), "HEAD::");
}

TEST(Client, AnyStatusIsAResponse) {
  const auto server =
      start([](Request, auto responder) { responder->respond({404, {}, "not here"}); });
  ClientRequest request;
  request.url = url_of(*server, "/");
  bool called = false;
  request.on_data = [&](std::string_view) { return called = true; };
  const auto response = perform(request);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "not here");
  EXPECT_FALSE(called);
}

TEST(Client, ReportsWhyThereIsNoResponse) {
  ClientRequest request;
  request.url = "http://127.0.0.1:1/";
  EXPECT_EQ(perform(request).error().code, ErrorCode::Unavailable);
  request.unix_socket = "/nonexistent/api.sock";
  const auto no_socket = perform(request);
  EXPECT_EQ(no_socket.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(no_socket.error().message,
            "cannot connect to unix socket /nonexistent/api.sock: No such file or directory");
  EXPECT_TRUE(never_connected(no_socket.error()));
  EXPECT_FALSE(never_connected(Error{ErrorCode::Unavailable, "GET http://a/: connection reset"}));
  request.unix_socket = std::string(200, 'x');
  EXPECT_EQ(perform(request).error().code, ErrorCode::InvalidValue);
  request.unix_socket.clear();
  for (const char* url : {"", "ftp://127.0.0.1/", "http://[bad/", "file:///etc/passwd"}) {
    request.url = url;
    EXPECT_EQ(perform(request).error().code, ErrorCode::InvalidValue) << url;
  }
  request.url = "http://127.0.0.1:1/";
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_EQ(perform(request).error().code, ErrorCode::InvalidValue);
}

TEST(Client, TimesOutAndCanBeCancelled) {
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> held;
  const auto server = start([&](Request, auto responder) {
    const std::lock_guard lock(mutex);
    held.push_back(responder);
  });
  ClientRequest request;
  request.url = url_of(*server, "/");
  request.timeout = Duration::millis(100);
  EXPECT_EQ(perform(request).error().code, ErrorCode::Timeout);
  request.timeout = Duration::seconds(10);
  std::atomic<int> polls = 0;
  request.cancelled = [&] { return ++polls > 1; };
  const auto cancelled = perform(request);
  EXPECT_EQ(cancelled.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(cancelled.error().message, HasSubstr("cancelled"));
  server->stop(Duration{});
}

TEST(Client, LimitsTheBody) {
  const auto server =
      start([](Request, auto responder) { responder->respond({200, {}, std::string(1000, 'x')}); });
  ClientRequest request;
  request.url = url_of(*server, "/");
  request.body_max = 999;
  EXPECT_EQ(perform(request).error().code, ErrorCode::BodyTooLarge);
  request.body_max = 1000;
  EXPECT_EQ(perform(request)->body.size(), 1000u);
}

TEST(Client, CallerMayEndAStreamAndCallTheClientFromItsCallback) {
  const auto server = start(
      [](Request, auto responder) { responder->respond({200, {}, std::string(1 << 20, 'x')}); });
  ClientRequest request;
  request.url = url_of(*server, "/");
  request.on_data = [&](std::string_view) {
    const auto inner = get(*server, "/inner");
    EXPECT_TRUE(inner && inner->body.size() == (1 << 20));
    return false;
  };
  const auto response = perform(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(Client, FollowsRedirectsOnlyWhenAsked) {
  const auto server = start([](Request request, auto responder) {
    if (request.path == "/to") return responder->respond({200, {{"X-At", "to"}}, "there"});
    responder->respond({302, {{"Location", "/to"}, {"X-At", "from"}}, ""});
  });
  ClientRequest request;
  request.url = url_of(*server, "/from");
  EXPECT_EQ(perform(request)->status, 302);
  request.follow_redirects = true;
  const auto followed = perform(request);
  EXPECT_EQ(followed->body, "there");
  EXPECT_EQ(followed->header("x-at"), "to");
}

TEST(Client, ProxyOfTheEnvironmentIsNotUsedForLoopback) {
  const auto server = start([](Request, auto responder) { responder->respond({200, {}, "ok"}); });
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto response = get(*server, "/");
  ::unsetenv("http_proxy");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "ok");
}

}  // namespace
}  // namespace muster::http
