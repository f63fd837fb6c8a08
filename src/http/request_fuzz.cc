#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "http/request_parser.h"

namespace {

using muster::http::RequestParser;

constexpr RequestParser::Limits kLimits = {.header_max = 512, .body_max = 64};

// Gives the bytes in pieces of `piece` bytes, the way a connection would.
RequestParser::Progress run(RequestParser& parser, std::string_view bytes, std::size_t piece) {
  parser.reset();
  std::size_t begin = 0;
  std::size_t end = 0;
  while (end < bytes.size()) {
    end = std::min(end + piece, bytes.size());
    auto step = parser.feed(bytes.substr(begin, end - begin));
    MUSTER_CHECK(step.consumed <= end - begin, "consumed {} of {}", step.consumed, end - begin);
    begin += step.consumed;
    while (step.progress == RequestParser::Progress::HeaderDone) {
      step = parser.feed(bytes.substr(begin, end - begin));
      begin += step.consumed;
    }
    if (step.progress != RequestParser::Progress::NeedMore) return step.progress;
  }
  return RequestParser::Progress::NeedMore;
}

}  // namespace

// The parser must survive any bytes, keep to its limits, and find the same request however the
// network cuts the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RequestParser whole(kLimits);
  if (run(whole, bytes, size) != RequestParser::Progress::Done) return 0;
  MUSTER_CHECK(whole.request().body.size() <= kLimits.body_max, "a body of {} bytes",
               whole.request().body.size());
  for (const std::size_t piece : {1, 3, 16}) {
    RequestParser cut(kLimits);
    const auto progress = run(cut, bytes, piece);
    MUSTER_CHECK(progress == RequestParser::Progress::Done, "pieces of {} are not a request",
                 piece);
    MUSTER_CHECK(cut.request().method == whole.request().method &&
                     cut.request().path == whole.request().path &&
                     cut.request().query == whole.request().query &&
                     cut.request().headers == whole.request().headers &&
                     cut.request().body == whole.request().body,
                 "pieces of {} are another request", piece);
  }
  return 0;
}
