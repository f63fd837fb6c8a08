#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// An HTTP/1.1 server without any knowledge of Muster's resources: sockets, parsing, limits,
// keep-alive, streamed answers. Boost.Beast stays behind server.cc. The controller's API and the
// agent's local API both stand on it.

namespace muster::http {

// Who is asking. A unix socket tells the peer's user; over loopback TCP nobody is known yet.
struct Identity {
  std::string name;  // "alice", or "anonymous"
  bool authenticated = false;
  std::string how;  // "unix", "tcp"
};

struct Request {
  std::string method;
  std::string path;                            // decoded, without the query
  std::string query;                           // raw
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  Identity identity;
  std::string id;                                  // of the request, echoed as X-Request-Id
  std::map<std::string, std::string> path_params;  // filled by the router
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// The rest of a streamed answer (chunked). Thread-safe; outlives the connection harmlessly.
class Stream {
 public:
  virtual ~Stream() = default;
  // Queues bytes. False once the peer is gone or it reads so slowly that more than the limit is
  // queued; the stream is then over.
  virtual bool write(std::string bytes) = 0;
  // Bytes that write() took and the connection has not sent yet, so that a large answer can be
  // paced.
  virtual std::size_t queued() const = 0;
  virtual void close() = 0;
  virtual bool open() const = 0;
  // Called once, from a server thread, when the stream is over for whatever reason; if the server
  // itself is gone by now, at once from the caller's.
  virtual void on_closed(std::function<void()> callback) = 0;
};

// How a handler answers: exactly one of the two, once, from any thread. If the responder is
// destroyed unused, the client gets a 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void respond(Response response) = 0;
  virtual std::shared_ptr<Stream> stream(Response head) = 0;
};

// Called on a server thread; must not block for long. May answer later.
using Handler = std::function<void(Request request, std::shared_ptr<Responder> responder)>;

// What is wrong with an address to listen on, without listening: InvalidValue (does not parse, or
// not loopback while `insecure` is false).
Result<void> check_tcp_address(const std::string& address, bool insecure);

struct ServerOptions {
  std::string unix_path;  // empty: none
  unsigned unix_mode = 0660;
  std::string unix_group;   // a name or a number; empty: the group of the process
  std::string tcp_address;  // "127.0.0.1:8440"; empty: none; port 0: any
  // Allow an address that is not loopback, and over TCP a Host header that names another machine.
  bool insecure = false;
  std::size_t body_max = std::size_t{16} << 20;
  std::size_t header_max = 64 << 10;
  std::size_t connections_max = 4096;
  std::size_t stream_queue_max = std::size_t{4} << 20;  // bytes
  Duration idle_timeout = Duration::seconds(120);
  Duration request_timeout = Duration::seconds(60);  // to receive a whole request
  std::size_t threads = 2;
  std::string server_header = "muster";
};

class Server {
 public:
  virtual ~Server() = default;
  // Binds and starts to serve. Errors name the address and what to do: in use, not loopback without
  // --insecure, no permission, path too long. A stale unix socket is replaced; a live one is not.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);

  virtual std::uint16_t tcp_port() const = 0;  // 0: none
  // Stops to accept, lets running requests end for at most `grace`, then cuts. Streams are closed
  // at once and end when what they have queued is sent. Joins all threads. Must not be called by a
  // handler.
  virtual void stop(Duration grace) = 0;
};

}  // namespace muster::http
