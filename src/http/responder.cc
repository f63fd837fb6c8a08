#include "http/responder.h"

#include <fmt/format.h>

#include <utility>

#include "http/connection.h"
#include "http/router.h"
#include "http/stream.h"

namespace muster::http {

ConnectionResponder::ConnectionResponder(std::shared_ptr<Loop> loop,
                                         std::weak_ptr<Connection> connection, std::uint64_t number,
                                         std::string request_id, std::size_t stream_queue_max)
    : loop_(std::move(loop)),
      connection_(std::move(connection)),
      number_(number),
      request_id_(std::move(request_id)),
      stream_queue_max_(stream_queue_max) {}

ConnectionResponder::~ConnectionResponder() { fail("the request was dropped without an answer"); }

void ConnectionResponder::respond(Response response) {
  if (!answered_.exchange(true)) deliver(std::move(response));
}

std::shared_ptr<Stream> ConnectionResponder::stream(Response head) {
  auto stream = std::make_shared<QueuedStream>(loop_, connection_, stream_queue_max_);
  if (answered_.exchange(true)) {
    stream->over();
    return stream;
  }
  auto begin = [connection = connection_, number = number_, head = std::move(head),
                stream]() mutable {
    if (const auto held = connection.lock()) {
      held->begin_stream(number, std::move(head), std::move(stream));
    } else {
      stream->over();
    }
  };
  if (loop_->in_this_thread()) {
    begin();
  } else if (!loop_->post(std::move(begin))) {
    stream->over();
  }
  return stream;
}

void ConnectionResponder::fail(std::string_view reason) {
  if (answered_.exchange(true)) return;
  Request request;
  request.id = request_id_;
  deliver(problem(Error{ErrorCode::Internal, std::string(reason)}, request));
}

void ConnectionResponder::deliver(Response response) {
  if (loop_->in_this_thread()) {
    if (const auto held = connection_.lock()) held->answer(number_, std::move(response));
    return;
  }
  // Without a loop the connection is gone too, and there is nobody to answer.
  (void)loop_->post(
      [connection = connection_, number = number_, response = std::move(response)]() mutable {
        if (const auto held = connection.lock()) held->answer(number, std::move(response));
      });
}

}  // namespace muster::http
