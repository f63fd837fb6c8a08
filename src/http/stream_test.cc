#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "http/client.h"
#include "http/server.h"
#include "http/test_support.h"

namespace muster::http {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::Not;

// A server whose every request becomes a stream that the test holds.
class StreamServer {
 public:
  explicit StreamServer(ServerOptions options = tcp_options()) {
    auto started = Server::start(std::move(options), [this](Request request, auto responder) {
      if (request.path == "/plain") return responder->respond({200, {}, "plain answer"});
      auto stream = responder->stream({200, {{"Content-Type", "text/event-stream"}}, ""});
      stream->on_closed([this] { closed.set(); });
      const std::lock_guard lock(mutex_);
      stream_ = std::move(stream);
      opened.set();
    });
    EXPECT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }

  // Its threads use the members that would be destroyed first.
  ~StreamServer() { server.reset(); }

  std::shared_ptr<Stream> stream() {
    EXPECT_TRUE(opened.wait());
    const std::lock_guard lock(mutex_);
    return stream_;
  }
  RawSocket connect(int receive_buffer = 0) {
    RawSocket raw = RawSocket::tcp(server->tcp_port(), receive_buffer);
    raw.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return raw;
  }

  Event opened;
  Event closed;
  std::unique_ptr<Server> server;

 private:
  std::mutex mutex_;
  std::shared_ptr<Stream> stream_;
};

TEST(Stream, DeliversWhatIsWrittenAsItIsWritten) {
  StreamServer server;
  std::string seen;
  Event first;
  std::thread client([&] {
    ClientRequest request;
    request.url = url_of(*server.server, "/events");
    request.on_data = [&](std::string_view data) {
      seen += data;
      first.set();
      return true;
    };
    const auto response = perform(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->header("content-type"), "text/event-stream");
    EXPECT_EQ(response->body, "");
  });
  const auto stream = server.stream();
  EXPECT_TRUE(stream->write("one "));
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(stream->write("two "));
  EXPECT_TRUE(stream->write(""));
  EXPECT_TRUE(stream->write("three"));
  stream->close();
  EXPECT_FALSE(stream->open());
  EXPECT_FALSE(stream->write("more"));
  client.join();
  EXPECT_EQ(seen, "one two three");
  EXPECT_TRUE(server.closed.wait());
  EXPECT_EQ(server.closed.count(), 1);
  EXPECT_EQ(stream->queued(), 0u);
  // Told even if it asks late.
  Event late;
  stream->on_closed([&] { late.set(); });
  EXPECT_TRUE(late.wait());
}

TEST(Stream, ConnectionIsUsableAfterwards) {
  StreamServer server;
  RawSocket raw = server.connect();
  // Sent while the stream is on: it waits for its turn.
  raw.send("GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto stream = server.stream();
  stream->write("abc");
  stream->close();
  const std::string answer = raw.read_until("plain answer");
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 "));
  raw.send("GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(raw.read_until("plain answer"), HasSubstr("plain answer"));
}

TEST(Stream, HeadRequestsAndHttp10) {
  StreamServer server;
  RawSocket head = RawSocket::tcp(server.server->tcp_port());
  head.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = head.read_to_end();
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  EXPECT_TRUE(server.closed.wait());
  RawSocket old = RawSocket::tcp(server.server->tcp_port());
  old.send("GET /events HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(server.opened.wait(2));
  server.stream()->write("raw bytes");
  server.stream()->close();
  const std::string body = old.read_to_end();
  EXPECT_TRUE(body.ends_with("\r\n\r\nraw bytes")) << body;
  EXPECT_THAT(body, Not(HasSubstr("chunked")));
}

TEST(Stream, NoticesThatTheClientIsGoneWithoutWriting) {
  StreamServer server;
  RawSocket raw = server.connect();
  const auto stream = server.stream();
  EXPECT_THAT(raw.read_until("\r\n\r\n"), HasSubstr("200 OK"));
  raw.close();
  EXPECT_TRUE(server.closed.wait());
  EXPECT_FALSE(stream->open());
  EXPECT_FALSE(stream->write("x"));
}

TEST(Stream, CutsAClientThatDoesNotRead) {
  ServerOptions options = tcp_options();
  options.stream_queue_max = 64 << 10;
  StreamServer server(options);
  RawSocket raw = server.connect(4096);
  const auto stream = server.stream();
  const std::string piece(16 << 10, 'x');
  // The kernel's buffers take some of it; then the queue fills up, and that is the end.
  std::size_t accepted = 0;
  while (stream->write(piece) && accepted < (std::size_t{64} << 20)) accepted += piece.size();
  EXPECT_LT(accepted, std::size_t{64} << 20);
  EXPECT_TRUE(server.closed.wait());
  EXPECT_FALSE(stream->open());
}

TEST(Stream, CutsAClientThatStopsReading) {
  ServerOptions options = tcp_options();
  options.idle_timeout = Duration::millis(200);
  options.stream_queue_max = std::size_t{64} << 20;
  StreamServer server(options);
  RawSocket raw = server.connect(4096);
  const auto stream = server.stream();
  EXPECT_TRUE(stream->write(std::string(32 << 20, 'x')));
  EXPECT_GT(stream->queued(), 0u);
  EXPECT_TRUE(server.closed.wait());
  EXPECT_FALSE(stream->open());
}

TEST(Stream, SilenceIsNotATimeout) {
  ServerOptions options = tcp_options();
  options.idle_timeout = Duration::millis(50);
  options.request_timeout = Duration::millis(50);
  StreamServer server(options);
  RawSocket raw = server.connect();
  const auto stream = server.stream();
  // Another connection is cut for idleness twice over while the stream stays.
  for (int i = 0; i < 2; ++i) {
    RawSocket idle = RawSocket::tcp(server.server->tcp_port());
    idle.read_to_end();
    EXPECT_TRUE(idle.ended());
  }
  EXPECT_TRUE(stream->open());
  EXPECT_TRUE(stream->write("still here"));
  EXPECT_THAT(raw.read_until("still here"), HasSubstr("still here"));
}

TEST(Stream, StopEndsStreamsAfterWhatIsQueued) {
  StreamServer server;
  RawSocket raw = server.connect();
  const auto stream = server.stream();
  std::string large(1 << 20, 'y');
  EXPECT_TRUE(stream->write(large));
  std::thread stopper([&] { server.server->stop(Duration::seconds(10)); });
  const std::string answer = raw.read_to_end();
  EXPECT_TRUE(answer.ends_with("\r\n0\r\n\r\n"));
  EXPECT_GT(answer.size(), large.size());
  raw.close();
  stopper.join();
  EXPECT_EQ(server.closed.count(), 1);
  EXPECT_FALSE(stream->write("x"));
}

TEST(Stream, OutlivesItsServer) {
  auto server = std::make_unique<StreamServer>();
  RawSocket raw = server->connect();
  const auto stream = server->stream();
  // Nobody reads, so the rest of the queue has to be dropped.
  EXPECT_TRUE(stream->write(std::string(64 << 20, 'z')));
  server->server->stop(Duration::millis(10));
  EXPECT_EQ(server->closed.count(), 1);
  server.reset();
  EXPECT_FALSE(stream->write("x"));
  EXPECT_FALSE(stream->open());
  stream->close();
  bool told = false;
  stream->on_closed([&] { told = true; });
  EXPECT_TRUE(told);
}

TEST(Stream, ManyWritersAndStopAtAnyMoment) {
  for (int round = 0; round < 10; ++round) {
    StreamServer server;
    RawSocket raw = server.connect();
    const auto stream = server.stream();
    std::vector<std::thread> writers;
    for (int t = 0; t < 3; ++t) {
      writers.emplace_back([stream] {
        while (stream->write("some bytes of an event\n")) std::this_thread::yield();
      });
    }
    if (round % 2 == 0) {
      EXPECT_FALSE(raw.read_until("event").empty());
      raw.close();
    }
    server.server->stop(Duration::millis(5));
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(server.closed.count(), 1);
  }
}

}  // namespace
}  // namespace muster::http
