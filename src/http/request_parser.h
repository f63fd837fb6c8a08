#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "http/server.h"

namespace muster::http {

// Turns bytes into a Request, one request after the other, within limits. Boost.Beast's parser does
// the reading and stays behind the .cc. Not thread-safe.
//
// A request is refused as soon as that is certain: one with a Content-Length over the limit when
// its header ends, a chunked one at the chunk that would pass the limit.
class RequestParser {
 public:
  struct Limits {
    std::size_t header_max = 0;
    std::size_t body_max = 0;
  };

  enum class Progress {
    NeedMore,    // all that could be used was; bytes not consumed must be given again, with more
    HeaderDone,  // once per request that has a body, after its header
    Done,
    Refused,  // see refusal(); the connection cannot be used any further
  };
  struct Step {
    std::size_t consumed = 0;
    Progress progress = Progress::NeedMore;
  };

  // What a refused request is answered with.
  struct Refusal {
    int status = 400;
    Error error = {ErrorCode::InvalidRequest, ""};
  };

  explicit RequestParser(Limits limits);
  ~RequestParser();

  // Begins the next request. Must also be called before the first.
  void reset();
  // REQUIRES: neither Done nor Refused since reset().
  Step feed(std::string_view bytes);

  // Without identity. Complete after Done; after Refused, what was read until then.
  Request& request();
  const Refusal& refusal() const;

  // Valid once the header is done.
  bool http10() const;
  bool keep_alive() const;
  bool expects_continue() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::http
