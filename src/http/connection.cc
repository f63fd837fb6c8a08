#include "http/connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "http/problem.h"
#include "http/responder.h"
#include "http/router.h"
#include "http/wire.h"

namespace muster::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kBufferSmall = std::size_t{8} << 10;
constexpr std::size_t kBufferForBodies = std::size_t{64} << 10;
// How long, and for how many bytes, a peer may go on sending after its last answer. Closing at once
// would reset the connection and could take the answer with it.
constexpr Duration kDrainTime = Duration::seconds(2);
constexpr std::size_t kDrainBytes = std::size_t{16} << 20;

bool is_tcp(int family) { return family == AF_INET || family == AF_INET6; }

void set_tcp_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

void Connection::start(std::shared_ptr<ServerShared> shared, std::shared_ptr<Loop> loop,
                       UniqueFd fd, int family, Identity identity, Mode mode) {
  if (is_tcp(family)) set_tcp_options(fd.get());
  const std::shared_ptr<Connection> self(
      new Connection(shared, loop, std::move(fd), family, std::move(identity), mode));
  loop->connections().insert(self);
  if (!self->socket_.is_open() || shared->stopping) {
    self->close();
  } else if (mode == Mode::Refuse) {
    self->refuse(503, Error{ErrorCode::Overloaded,
                            fmt::format("too many connections, at most {} are served at a time",
                                        shared->options.connections_max)});
  } else {
    self->set_deadline_in(shared->options.idle_timeout);
    self->read();
  }
}

Connection::Connection(std::shared_ptr<ServerShared> shared, std::shared_ptr<Loop> loop,
                       UniqueFd fd, int family, Identity identity, Mode mode)
    : shared_(std::move(shared)),
      loop_(std::move(loop)),
      identity_(std::move(identity)),
      mode_(mode),
      tcp_(is_tcp(family)),
      socket_(loop_->io().get_executor()),
      parser_({shared_->options.header_max, shared_->options.body_max}),
      timer_(loop_->io().get_executor()) {
  IoError error;
  socket_.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (!error) (void)fd.release();
}

Connection::~Connection() = default;

void Connection::read() {
  if (reading_ || state_ == State::Closed) return;
  if (!make_room()) {
    if (state_ == State::Receiving) {
      refuse(431, Error{ErrorCode::InvalidRequest,
                        fmt::format("request header is too large, at most {} bytes are allowed",
                                    shared_->options.header_max)});
    } else {
      close();
    }
    return;
  }
  reading_ = true;
  socket_.async_read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                          [self = shared_from_this()](const IoError& error, std::size_t size) {
                            self->on_read(error, size);
                          });
}

void Connection::on_read(IoError error, std::size_t size) {
  reading_ = false;
  if (state_ == State::Closed) return;
  if (error) {
    peer_ended_ = true;
    // An answer that is on its way may still be read by a peer that only closed its sending side.
    // A stream ends: its client would otherwise hold it for as long as nothing is sent.
    if (state_ != State::Handling && state_ != State::Writing) close();
    return;
  }
  end_ += size;
  switch (state_) {
    case State::Idle:
    case State::Receiving:
      process();
      break;
    case State::Streaming:
      read();
      break;
    case State::Draining:
      drained_ += size;
      begin_ = end_;
      if (drained_ > kDrainBytes) {
        close();
      } else {
        read();
      }
      break;
    case State::Handling:
    case State::Writing:
    case State::Closed:
      break;
  }
}

// False: the buffer holds as much unused data as it may.
bool Connection::make_room() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    const std::size_t wanted = receiving_body_ ? kBufferForBodies : kBufferSmall;
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    return true;
  }
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < buffer_.size()) return true;
  // The parser refuses a header before it fills this; what else can is the trailer of a body.
  const std::size_t most = std::max(shared_->options.header_max + kBufferSmall, kBufferForBodies);
  if (buffer_.size() >= most) return false;
  buffer_.resize(std::min(most, buffer_.size() * 2));
  return true;
}

void Connection::process() {
  if (state_ == State::Idle) {
    // Empty lines before a request are to be ignored (RFC 9112, 2.2).
    while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n')
      begin_ += 2;
    if (begin_ == end_ || (end_ - begin_ == 1 && buffer_[begin_] == '\r')) {
      if (peer_ended_) return close();
      return read();
    }
    state_ = State::Receiving;
    receiving_body_ = false;
    parser_.reset();
    set_deadline_in(shared_->options.request_timeout);
  }
  while (true) {
    const auto step = parser_.feed({buffer_.data() + begin_, end_ - begin_});
    begin_ += step.consumed;
    switch (step.progress) {
      case RequestParser::Progress::NeedMore:
        if (peer_ended_) return close();
        return read();
      case RequestParser::Progress::HeaderDone:
        receiving_body_ = true;
        // A client that sent part of the body already does not wait for permission.
        if (parser_.expects_continue() && begin_ == end_) return send_continue();
        break;
      case RequestParser::Progress::Done:
        return dispatch();
      case RequestParser::Progress::Refused:
        return refuse(parser_.refusal().status, parser_.refusal().error);
    }
  }
}

void Connection::send_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  const auto deadline = deadline_;
  write(asio::buffer(kContinue.data(), kContinue.size()), [deadline](Connection& self) {
    self.set_deadline(deadline);
    self.read();
  });
}

std::string Connection::id_of_request() {
  const auto& headers = parser_.request().headers;
  const auto it = headers.find("x-request-id");
  if (it != headers.end() && is_valid_request_id(it->second)) return it->second;
  return make_request_id();
}

// A page of a browser on this machine can reach a loopback port under a name that its author owns
// (DNS rebinding), and would then count as one of us.
bool Connection::is_foreign_host() {
  if (!tcp_ || shared_->options.insecure) return false;
  const auto& headers = parser_.request().headers;
  const auto host = headers.find("host");
  return host != headers.end() && !names_this_host(host->second);
}

void Connection::dispatch() {
  if (is_foreign_host()) {
    return refuse(403, Error{ErrorCode::Forbidden,
                             fmt::format("the Host header is '{}'; over TCP only requests to "
                                         "localhost, 127.0.0.1 or [::1] are answered",
                                         parser_.request().headers.at("host").substr(0, 100))});
  }
  state_ = State::Handling;
  set_deadline(Clock::time_point::max());
  ++number_;
  request_id_ = id_of_request();
  http10_ = parser_.http10();
  keep_alive_ = parser_.keep_alive();
  Request request = std::move(parser_.request());
  head_request_ = request.method == "HEAD";
  request.identity = identity_;
  request.id = request_id_;
  const auto responder = std::make_shared<ConnectionResponder>(
      loop_, weak_from_this(), number_, request_id_, shared_->options.stream_queue_max);
  try {
    shared_->handler(std::move(request), responder);
  } catch (const std::exception& error) {
    responder->fail(fmt::format("the request handler failed: {}", error.what()));
  } catch (...) {
    responder->fail("the request handler failed");
  }
}

// Answers without the handler, then closes: where the next request would start is not known.
void Connection::refuse(int status, const Error& error) {
  if (mode_ == Mode::Serve) {
    request_id_ = id_of_request();
    http10_ = parser_.http10();
    head_request_ = parser_.request().method == "HEAD";
  } else {
    request_id_ = make_request_id();
  }
  keep_alive_ = false;
  refused_ = true;
  // An interim answer is still being written, and two writes must not mix.
  if (writing_) return close();
  Request request;
  request.id = request_id_;
  send_response(status == http_status(error.code)
                    ? problem(error, request)
                    : problem_with_status(status, reason_phrase(status), error, request));
}

template <typename Buffers, typename Done>
void Connection::write(const Buffers& buffers, Done done) {
  writing_ = true;
  asio::async_write(
      socket_, buffers,
      // Asked before every write to the socket: the peer has to take some bytes each time, but may
      // take long over all of them.
      [this](const IoError& error, std::size_t written) {
        if (!error && state_ != State::Closed) set_deadline_in(shared_->options.idle_timeout);
        return asio::transfer_all()(error, written);
      },
      [self = shared_from_this(), done](const IoError& error, std::size_t) {
        self->writing_ = false;
        if (self->state_ == State::Closed) return;
        if (error) return self->close();
        done(*self);
      });
}

void Connection::answer(std::uint64_t number, Response response) {
  if (state_ == State::Handling && number == number_) send_response(std::move(response));
}

void Connection::send_response(Response response) {
  if (response.status < 200 || response.status > 599) {
    Request request;
    request.id = request_id_;
    response = problem(Error{ErrorCode::Internal,
                             fmt::format("the handler answered with status {}, which is not one",
                                         response.status)},
                       request);
  }
  state_ = State::Writing;
  keep_alive_ = keep_alive_ && !shared_->stopping;
  out_head_.clear();
  append_head(out_head_, response,
              {.server = shared_->options.server_header,
               .request_id = request_id_,
               .framing = Framing::Length,
               .http10 = http10_,
               .keep_alive = keep_alive_});
  out_body_.clear();
  if (!head_request_ && has_body(response.status)) out_body_ = std::move(response.body);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(out_head_),
                                                     asio::buffer(out_body_)};
  write(buffers, [](Connection& self) { self.finish_exchange(); });
}

void Connection::finish_exchange() {
  if (keep_alive_ && !shared_->stopping) return next_request();
  // With bytes left unread, closing would reset the connection; without, it is the clean end.
  IoError ignored;
  if (refused_ || begin_ < end_ || socket_.available(ignored) > 0) return drain();
  close();
}

void Connection::next_request() {
  state_ = State::Idle;
  receiving_body_ = false;
  set_deadline_in(shared_->options.idle_timeout);
  if (begin_ < end_) return process();
  if (peer_ended_) return close();
  // Thousands of idle connections must not each keep the memory of their largest request.
  if (!reading_ && buffer_.size() > kBufferSmall) std::vector<char>().swap(buffer_);
  if (out_body_.capacity() > kBufferSmall) std::string().swap(out_body_);
  if (!reading_) begin_ = end_ = 0;
  read();
}

void Connection::drain() {
  IoError ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (peer_ended_) return close();
  state_ = State::Draining;
  begin_ = end_;
  set_deadline_in(kDrainTime);
  read();
}

void Connection::begin_stream(std::uint64_t number, Response head,
                              std::shared_ptr<QueuedStream> stream) {
  if (state_ != State::Handling || number != number_) return stream->over();
  // HTTP/1.0 has no chunks: there the end of the connection is the end of the stream.
  keep_alive_ = keep_alive_ && !http10_ && !shared_->stopping;
  out_head_.clear();
  append_head(out_head_, head,
              {.server = shared_->options.server_header,
               .request_id = request_id_,
               .framing = http10_ ? Framing::UntilClose : Framing::Chunked,
               .http10 = http10_,
               .keep_alive = keep_alive_});
  if (head_request_ || !has_body(head.status)) {
    state_ = State::Writing;
    write(asio::buffer(out_head_), [](Connection& self) { self.finish_exchange(); });
    return stream->over();
  }
  state_ = State::Streaming;
  stream_ = std::move(stream);
  if (shared_->stopping) stream_->close();
  write(asio::buffer(out_head_), [](Connection& self) { self.pump_stream(*self.stream_); });
  // The pending read is how the end of the peer is noticed.
  read();
}

void Connection::pump_stream(QueuedStream& stream) {
  if (stream_.get() != &stream || state_ != State::Streaming || writing_) return;
  QueuedStream::Batch batch = stream.take();
  out_head_.clear();
  if (batch.last) {
    if (http10_) return end_stream();
    out_head_ = "0\r\n\r\n";
    return write(asio::buffer(out_head_), [](Connection& self) { self.end_stream(); });
  }
  if (batch.bytes.empty()) {
    // As long as nothing is to be sent, a stream may be silent for ever.
    return set_deadline(Clock::time_point::max());
  }
  static constexpr std::string_view kChunkEnd = "\r\n";
  out_body_ = std::move(batch.bytes);
  if (!http10_) fmt::format_to(std::back_inserter(out_head_), "{:x}\r\n", out_body_.size());
  const std::array<asio::const_buffer, 3> buffers = {
      asio::buffer(out_head_), asio::buffer(out_body_),
      asio::buffer(kChunkEnd.data(), http10_ ? 0 : kChunkEnd.size())};
  write(buffers, [](Connection& self) {
    self.stream_->sent(self.out_body_.size());
    self.pump_stream(*self.stream_);
  });
}

void Connection::cut_stream(QueuedStream& stream) {
  if (stream_.get() == &stream) close();
}

void Connection::end_stream() {
  const auto stream = std::exchange(stream_, nullptr);
  finish_exchange();
  stream->over();
}

void Connection::begin_stop() {
  switch (state_) {
    case State::Idle:
      close();
      break;
    case State::Streaming:
      stream_->close();
      break;
    case State::Receiving:
    case State::Handling:
    case State::Writing:
    case State::Draining:
    case State::Closed:
      break;
  }
}

void Connection::close() {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  IoError ignored;
  socket_.close(ignored);
  timer_.cancel();
  const auto self = shared_from_this();
  loop_->connections().erase(self);
  if (const auto stream = std::exchange(stream_, nullptr)) stream->over();
  if (mode_ == Mode::Serve) {
    shared_->serving.fetch_sub(1);
  } else {
    shared_->refusing.fetch_sub(1);
  }
  if (shared_->stopping) {
    const std::lock_guard lock(shared_->idle_mutex);
    shared_->idle.notify_all();
  }
}

void Connection::set_deadline_in(Duration duration) {
  set_deadline(Clock::now() + std::chrono::microseconds(duration.us));
}

void Connection::set_deadline(Clock::time_point deadline) {
  deadline_ = deadline;
  if (deadline_ < armed_for_) arm_timer();
}

void Connection::arm_timer() {
  armed_for_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const IoError& error) {
    if (!error) self->on_timer();
  });
}

void Connection::on_timer() {
  if (state_ == State::Closed) return;
  armed_for_ = Clock::time_point::max();
  if (Clock::now() < deadline_) {
    if (deadline_ != Clock::time_point::max()) arm_timer();
    return;
  }
  if (state_ != State::Receiving) return close();
  refuse(408,
         Error{ErrorCode::Timeout, fmt::format("the request was not received within {}",
                                               format_duration(shared_->options.request_timeout))});
}

}  // namespace muster::http
