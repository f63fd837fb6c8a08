#pragma once

#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/loop.h"
#include "http/request_parser.h"
#include "http/server.h"
#include "http/socket.h"
#include "http/stream.h"

namespace muster::http {

// What all connections of a server share. Thread-safe.
struct ServerShared {
  ServerShared(ServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)), handler(std::move(request_handler)) {}

  const ServerOptions options;
  const Handler handler;
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> serving = 0;   // connections that count against the limit
  std::atomic<std::size_t> refusing = 0;  // connections that are only told that there is no room

  std::mutex idle_mutex;
  std::condition_variable idle;  // notified when a connection goes away while stopping
};

// One client connection: receives a request, hands it to the handler, sends the answer, and again.
// Requests that arrive early (pipelining) wait in the receive buffer, so answers keep their order.
//
// Belongs to one Loop and is only touched on its thread. Owned by the loop's set of connections
// until close(), then by the operations that are still pending; everybody else holds it weakly.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Mode {
    Serve,
    Refuse,  // too many connections: answers 503 and closes
  };

  // Takes over an accepted socket. The counter of the mode has been increased for it already.
  static void start(std::shared_ptr<ServerShared> shared, std::shared_ptr<Loop> loop, UniqueFd fd,
                    int family, Identity identity, Mode mode);
  ~Connection();

  // Answers to the request of that number; late and second answers are ignored.
  void answer(std::uint64_t number, Response response);
  void begin_stream(std::uint64_t number, Response head, std::shared_ptr<QueuedStream> stream);

  void pump_stream(QueuedStream& stream);
  void cut_stream(QueuedStream& stream);

  // Ends as soon as the request that is being served is answered; a stream ends after what is
  // queued.
  void begin_stop();
  void close();

 private:
  using Socket =
      boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Loop::Executor>;
  using Clock = std::chrono::steady_clock;
  using Timer =
      boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Loop::Executor>;
  using IoError = boost::system::error_code;

  enum class State {
    Idle,       // between requests
    Receiving,  // part of a request is here
    Handling,   // the handler has the request
    Writing,    // the answer is being sent
    Streaming,  // the head of a streamed answer is out, or on its way
    Draining,   // all is said; waiting for the peer to close
    Closed,
  };

  Connection(std::shared_ptr<ServerShared> shared, std::shared_ptr<Loop> loop, UniqueFd fd,
             int family, Identity identity, Mode mode);

  void read();
  void on_read(IoError error, std::size_t size);
  bool make_room();
  void process();
  void send_continue();
  void dispatch();
  void refuse(int status, const Error& error);
  void next_request();

  void send_response(Response response);
  template <typename Buffers, typename Done>
  void write(const Buffers& buffers, Done done);
  void finish_exchange();
  void end_stream();
  void drain();

  void set_deadline(Clock::time_point deadline);
  void set_deadline_in(Duration duration);
  std::string id_of_request();
  bool is_foreign_host();
  void arm_timer();
  void on_timer();

  const std::shared_ptr<ServerShared> shared_;
  const std::shared_ptr<Loop> loop_;
  const Identity identity_;
  const Mode mode_;
  const bool tcp_;
  Socket socket_;
  RequestParser parser_;

  State state_ = State::Idle;
  std::uint64_t number_ = 0;  // of the request that is being served
  std::string request_id_;
  bool head_request_ = false;
  bool http10_ = false;
  bool keep_alive_ = true;
  bool refused_ = false;  // part of a request may still be on its way

  // Bytes [begin_, end_) of buffer_ are received and not used. While reading_, the rest belongs to
  // the pending read, and the buffer must not move.
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool reading_ = false;
  bool receiving_body_ = false;
  bool peer_ended_ = false;
  std::size_t drained_ = 0;

  // Kept until the write that refers to them is done.
  std::string out_head_;
  std::string out_body_;
  bool writing_ = false;
  std::shared_ptr<QueuedStream> stream_;

  // The timer is only moved when the deadline comes closer; when it fires early it is armed again.
  // So a request costs no timer operation.
  Timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point armed_for_ = Clock::time_point::max();
};

}  // namespace muster::http
