#include "http/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/json.h"
#include "http/client.h"
#include "http/router.h"
#include "http/test_support.h"

namespace muster::http {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void echo(Request request, std::shared_ptr<Responder> responder) {
  Response response;
  response.headers.emplace_back("Content-Type", "text/plain");
  response.headers.emplace_back("X-Method", request.method);
  response.headers.emplace_back("X-Path", request.path);
  response.headers.emplace_back("X-Query", request.query);
  response.headers.emplace_back("X-Identity",
                                request.identity.name + "/" + request.identity.how +
                                    (request.identity.authenticated ? "/yes" : "/no"));
  response.body = request.body.empty() ? request.path : request.body;
  responder->respond(std::move(response));
}

std::unique_ptr<Server> start(ServerOptions options, Handler handler = echo) {
  auto server = Server::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return server ? std::move(*server) : nullptr;
}

std::string code_in(std::string_view answer) {
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string_view::npos) return "no body";
  const auto json = parse_json(answer.substr(body + 4));
  return json ? json->value("code", "no code") : "no json: " + std::string(answer.substr(body + 4));
}

TEST(Server, AnswersOverTcpAsAnonymous) {
  const auto server = start(tcp_options());
  ClientRequest request;
  request.method = "POST";
  request.url = url_of(*server, "/a%20b/c+d?x=%31");
  request.body = "hello";
  request.headers = {{"X-Request-Id", "my-id-1"}};
  const auto response = perform(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->header("x-method"), "POST");
  EXPECT_EQ(response->header("x-path"), "/a b/c+d");
  EXPECT_EQ(response->header("X-Query"), "x=%31");
  EXPECT_EQ(response->header("x-identity"), "anonymous/tcp/no");
  EXPECT_EQ(response->header("x-request-id"), "my-id-1");
  EXPECT_EQ(response->header("server"), "muster");
  EXPECT_THAT(response->header("date"), HasSubstr("GMT"));
}

TEST(Server, KnowsTheUserOnAUnixSocket) {
  const TempDir dir;
  ServerOptions options;
  options.unix_path = dir.file("api.sock");
  options.unix_mode = 0600;
  auto server = start(options);
  EXPECT_EQ(server->tcp_port(), 0);
  struct stat status{};
  ASSERT_EQ(::stat(options.unix_path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ClientRequest request;
  request.url = "http://muster/v1/x";
  request.unix_socket = options.unix_path;
  const auto response = perform(request);
  ASSERT_TRUE(response) << response.error().message;
  const passwd* user = ::getpwuid(::geteuid());
  const std::string name = user ? user->pw_name : "uid:" + std::to_string(::geteuid());
  EXPECT_EQ(response->header("x-identity"), name + "/unix/yes");
  EXPECT_EQ(response->body, "/v1/x");
  server->stop(Duration::seconds(1));
  EXPECT_FALSE(std::filesystem::exists(options.unix_path));
}

TEST(Server, AnswersOverTcpOnlyToNamesOfThisMachine) {
  const auto server = start(tcp_options());
  for (const char* host : {"localhost", "LocalHost:1", "127.0.0.1", "127.1.2.3:80", "[::1]:8440"}) {
    auto raw = RawSocket::tcp(server->tcp_port());
    raw.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", host));
    EXPECT_THAT(raw.read_to_end(), StartsWith("HTTP/1.1 200")) << host;
  }
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "10.0.0.1:8440"}) {
    auto raw = RawSocket::tcp(server->tcp_port());
    raw.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    const std::string answer = raw.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403")) << host;
    EXPECT_EQ(code_in(answer), "forbidden") << host;
  }
  ServerOptions open = tcp_options();
  open.insecure = true;
  const auto insecure = start(open);
  auto raw = RawSocket::tcp(insecure->tcp_port());
  raw.send("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(raw.read_to_end(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, GivesTheUnixSocketToAGroup) {
  const TempDir dir;
  ServerOptions options;
  options.unix_path = dir.file("api.sock");
  options.unix_group = "no-such-group-here";
  const auto refused = Server::start(options, echo);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no group 'no-such-group-here'"));
  EXPECT_FALSE(std::filesystem::exists(options.unix_path));
  options.unix_group = std::to_string(::getegid());  // the only one that any user may give it to
  const auto server = start(options);
  struct stat status{};
  ASSERT_EQ(::stat(options.unix_path.c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, ::getegid());
}

TEST(Server, MakesRequestIdsThatDiffer) {
  const auto server = start(tcp_options());
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.insert(get(*server, "/")->header("x-request-id"));
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids.count(""), 0u);
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send(
      "GET / HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: not ok\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(raw.read_to_end(), Not(HasSubstr("not ok")));
}

TEST(Server, HeadHasTheLengthButNoBody) {
  const auto server = start(tcp_options());
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send("HEAD /twelve-chars HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = raw.read_to_end();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 13\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(Server, KeepsTheConnectionAndAnswersPipelinedRequestsInOrder) {
  // Answers come from other threads, the first request's last.
  std::mutex mutex;
  std::vector<std::thread> threads;
  const auto server = start(tcp_options(), [&](Request request, auto responder) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([responder, path = request.path] {
      Response response;
      response.body = "<" + path + ">";
      responder->respond(std::move(response));
    });
  });
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  std::string all = "\r\n";
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    expected += "</" + std::to_string(i) + ">";
  }
  ASSERT_TRUE(raw.send(all));
  const std::string answer = raw.read_until("</49>");
  std::string bodies;
  for (std::size_t at = answer.find('<'); at != std::string::npos; at = answer.find('<', at + 1)) {
    bodies += answer.substr(at, answer.find('>', at) - at + 1);
  }
  EXPECT_EQ(bodies, expected);
  const std::lock_guard lock(mutex);
  for (auto& thread : threads) thread.join();
}

TEST(Server, Http10ClosesUnlessAskedToKeep) {
  const auto server = start(tcp_options());
  RawSocket close = RawSocket::tcp(server->tcp_port());
  close.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_THAT(close.read_to_end(), HasSubstr("Connection: close"));
  EXPECT_TRUE(close.ended());
  RawSocket keep = RawSocket::tcp(server->tcp_port());
  keep.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(keep.read_until("/a"), HasSubstr("Connection: keep-alive"));
}

TEST(Server, RefusesALargeBodyBeforeItIsSent) {
  ServerOptions options = tcp_options();
  options.body_max = 1000;
  const auto server = start(options);
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\nX-Request-Id: big\r\n\r\n");
  const std::string answer = raw.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer, HasSubstr("X-Request-Id: big\r\n"));
  EXPECT_EQ(code_in(answer), "body_too_large");
  EXPECT_TRUE(raw.ended());
  ClientRequest exact;
  exact.method = "POST";
  exact.url = url_of(*server, "/");
  exact.body.assign(1000, 'x');
  EXPECT_EQ(perform(exact)->status, 200);
  exact.body.assign(5'000'000, 'x');
  const auto refused = perform(exact);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 413);
}

TEST(Server, ReadsChunkedBodiesUpToTheLimit) {
  ServerOptions options = tcp_options();
  options.body_max = 10;
  const auto server = start(options);
  const std::string head =
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  RawSocket fits = RawSocket::tcp(server->tcp_port());
  fits.send(head + "5\r\nhello\r\n5;a=b\r\nworld\r\n0\r\nX-Path: sneaky\r\n\r\n");
  EXPECT_THAT(fits.read_until("helloworld"), StartsWith("HTTP/1.1 200 "));
  RawSocket large = RawSocket::tcp(server->tcp_port());
  large.send(head + "8\r\n12345678\r\n3\r\n");
  const std::string answer = large.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(code_in(answer), "body_too_large");
}

TEST(Server, HonoursExpectContinue) {
  const auto server = start(tcp_options());
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(raw.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  raw.send("body");
  EXPECT_THAT(raw.read_until("\r\n\r\nbody"), StartsWith("HTTP/1.1 200 "));
  RawSocket odd = RawSocket::tcp(server->tcp_port());
  odd.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: tea\r\n\r\n");
  EXPECT_THAT(odd.read_to_end(), StartsWith("HTTP/1.1 417 "));
}

TEST(Server, RefusesALargeHeaderHoweverItIsCut) {
  ServerOptions options = tcp_options();
  options.header_max = 2000;
  const auto server = start(options);
  RawSocket one = RawSocket::tcp(server->tcp_port());
  one.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + std::string(3000, 'a') + "\r\n\r\n");
  EXPECT_THAT(one.read_to_end(), StartsWith("HTTP/1.1 431 "));
  // Whole fields, each in its own packet: none is too long by itself.
  RawSocket many = RawSocket::tcp(server->tcp_port());
  std::string fields = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 100; ++i)
    fields += "X-" + std::to_string(i) + ": " + std::string(20, 'b') + "\r\n";
  many.send(fields);
  EXPECT_THAT(many.read_to_end(), StartsWith("HTTP/1.1 431 "));
}

TEST(Server, AnswersMalformedRequestsWithAProblemAndCloses) {
  const auto server = start(tcp_options());
  for (const std::string bytes :
       {"\x16\x03\x01\x02 TLS\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /a%00 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: "
        "chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"}) {
    RawSocket raw = RawSocket::tcp(server->tcp_port());
    raw.send(bytes);
    const std::string answer = raw.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << bytes;
    EXPECT_THAT(answer, HasSubstr("application/problem+json")) << bytes;
    EXPECT_EQ(code_in(answer), "invalid_request") << bytes;
    EXPECT_TRUE(raw.ended()) << bytes;
  }
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_THAT(raw.read_to_end(), StartsWith("HTTP/1.1 501 "));
}

TEST(Server, CutsASlowRequestAndAnIdleConnection) {
  ServerOptions options = tcp_options();
  options.request_timeout = Duration::millis(150);
  options.idle_timeout = Duration::millis(300);
  const auto server = start(options);
  RawSocket slow = RawSocket::tcp(server->tcp_port());
  RawSocket idle = RawSocket::tcp(server->tcp_port());
  RawSocket body = RawSocket::tcp(server->tcp_port());
  slow.send("GET / HT");
  body.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
  const std::string answer = slow.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(code_in(answer), "timeout");
  EXPECT_TRUE(slow.ended());
  EXPECT_THAT(body.read_to_end(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_TRUE(idle.ended());
}

TEST(Server, TellsConnectionsOverTheLimit) {
  ServerOptions options = tcp_options();
  options.connections_max = 1;
  const auto server = start(options);
  RawSocket first = RawSocket::tcp(server->tcp_port());
  first.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(first.read_until("/a"), StartsWith("HTTP/1.1 200 "));
  RawSocket second = RawSocket::tcp(server->tcp_port());
  second.send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = second.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: "));
  EXPECT_EQ(code_in(answer), "overloaded");
  // The first is not disturbed, and its place is free again once it is gone.
  first.send("GET /c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(first.read_to_end(), StartsWith("HTTP/1.1 200 "));
  first.close();
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < end) {
    const auto response = get(*server, "/d");
    if (response) status = response->status;
  }
  EXPECT_EQ(status, 200);
}

TEST(Server, HandlerFailuresBecome500) {
  const auto server = start(tcp_options(), [](Request request, auto responder) {
    if (request.path == "/throw") throw std::runtime_error("boom");
    if (request.path == "/odd") throw 42;
    if (request.path == "/status") responder->respond({.status = 42, .headers = {}, .body = ""});
    if (request.path == "/twice") {
      responder->respond({.status = 200, .headers = {{"X-A", "a\r\nX-B: b"}}, .body = "one"});
      responder->respond({.status = 200, .headers = {}, .body = "two"});
      EXPECT_FALSE(responder->stream({})->write("three"));
    }
  });
  for (const char* path : {"/throw", "/odd", "/status", "/drop"}) {
    const auto response = get(*server, path);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 500) << path;
    EXPECT_EQ(parse_json(response->body)->value("code", ""), "internal") << path;
  }
  const auto twice = get(*server, "/twice");
  EXPECT_EQ(twice->body, "one");
  EXPECT_EQ(twice->header("x-b"), "");
}

TEST(Server, RefusesAnAddressThatIsNotLoopback) {
  ServerOptions options;
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:80"}) {
    options.tcp_address = address;
    const auto server = Server::start(options, echo);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code, ErrorCode::InvalidValue);
    EXPECT_THAT(server.error().message, HasSubstr(address));
    EXPECT_THAT(server.error().message, HasSubstr("--insecure"));
  }
  for (const char* address : {"127.0.0.1", "127.0.0.1:", "::1:80", "host:80", "127.0.0.1:99999"}) {
    options.tcp_address = address;
    const auto server = Server::start(options, echo);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code, ErrorCode::InvalidValue) << address;
  }
  options.tcp_address = "0.0.0.0:0";
  options.insecure = true;
  EXPECT_NE(start(options)->tcp_port(), 0);
}

TEST(Server, NamesAnAddressThatIsInUse) {
  const auto server = start(tcp_options());
  ServerOptions options;
  options.tcp_address = "127.0.0.1:" + std::to_string(server->tcp_port());
  const auto second = Server::start(options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  EXPECT_THAT(second.error().message, HasSubstr(options.tcp_address));
}

TEST(Server, ReplacesAStaleUnixSocketButNothingElse) {
  const TempDir dir;
  ServerOptions options;
  options.unix_path = dir.file("s");
  {
    // What a killed server leaves behind: a socket file that nobody listens on.
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, options.unix_path.c_str());
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
  }
  ASSERT_TRUE(std::filesystem::exists(options.unix_path));
  const auto server = start(options);
  ASSERT_TRUE(server);

  const auto second = Server::start(options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  EXPECT_THAT(second.error().message, HasSubstr(options.unix_path));
  ClientRequest request;
  request.url = "http://x/alive";
  request.unix_socket = options.unix_path;
  EXPECT_EQ(perform(request)->body, "/alive");

  options.unix_path = dir.file("file");
  std::ofstream(options.unix_path) << "precious";
  EXPECT_FALSE(Server::start(options, echo));
  EXPECT_TRUE(std::filesystem::exists(options.unix_path));
  options.unix_path = dir.file("no/such/dir");
  EXPECT_THAT(Server::start(options, echo).error().message, HasSubstr("create the directory"));
  options.unix_path = dir.file(std::string(200, 'x'));
  EXPECT_THAT(Server::start(options, echo).error().message, HasSubstr("too long"));
}

TEST(Server, StopLetsARunningRequestEndThenRefusesMore) {
  Event handling;
  std::shared_ptr<Responder> held;
  auto server = start(tcp_options(), [&](Request, auto responder) {
    held = responder;
    handling.set();
  });
  RawSocket running = RawSocket::tcp(server->tcp_port());
  RawSocket idle = RawSocket::tcp(server->tcp_port());
  running.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(handling.wait());
  std::thread stopper([&] { server->stop(Duration::seconds(10)); });
  // The idle connection ends at once, which also shows that stopping has begun.
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_TRUE(idle.ended());
  held->respond({.status = 200, .headers = {}, .body = "done"});
  const std::string answer = running.read_to_end();
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_THAT(answer, HasSubstr("done"));
  running.close();
  stopper.join();
  EXPECT_FALSE(get(*server, "/"));
}

TEST(Server, StopCutsARequestThatNeverEnds) {
  Event handling;
  std::shared_ptr<Responder> held;
  auto server = start(tcp_options(), [&](Request, auto responder) {
    held = responder;
    handling.set();
  });
  RawSocket raw = RawSocket::tcp(server->tcp_port());
  raw.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(handling.wait());
  server->stop(Duration::millis(20));
  EXPECT_EQ(raw.read_to_end(), "");
  server.reset();
  // A responder outlives its server harmlessly.
  held->respond({.status = 200, .headers = {}, .body = "late"});
}

TEST(Server, ServesManyClientsAtOnce) {
  const auto server = start(tcp_options());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
        const auto response = get(*server, path);
        if (response && response->body == path) ++good;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 400);
}

}  // namespace
}  // namespace muster::http
