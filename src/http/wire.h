#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/server.h"

// The bytes of HTTP/1.1 that the server writes itself, and the few it reads that the parser leaves
// alone. Pure functions, but for the clock of the Date header and the counter of request ids.

namespace muster::http {

std::string_view reason_phrase(int status);

// How the end of a body is told.
enum class Framing { Length, Chunked, UntilClose };

struct HeadContext {
  std::string_view server;
  std::string_view request_id;
  Framing framing = Framing::Length;
  bool http10 = false;
  bool keep_alive = true;
};

// Appends status line, headers and the empty line. Framing and connection headers of the response
// are ignored, since the connection decides on them; line breaks in values become spaces.
void append_head(std::string& out, const Response& response, const HeadContext& context);

// Whether an answer of this status has a body at all.
bool has_body(int status);

struct Target {
  std::string path;   // decoded
  std::string query;  // raw
};
// Accepts origin form ("/a?b"), absolute form and "*". Error code: InvalidRequest.
Result<Target> parse_target(std::string_view target);

// A client's own id is kept if it is harmless in a log and a header.
bool is_valid_request_id(std::string_view id);
// Unique in this process, and unlikely to meet another's.
std::string make_request_id();

}  // namespace muster::http
