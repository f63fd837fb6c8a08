#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::cli {

struct SseEvent {
  std::string id;  // the last id seen, also where this event had none
  std::string type = "message";
  std::string data;

  bool operator==(const SseEvent&) const = default;
};

// Reads a stream of server-sent events (WHATWG HTML, "event stream interpretation"). Bytes may
// come in pieces cut anywhere; an event counts once its empty line has come, so a connection lost
// in the middle of one loses nothing but that event, which the next connection sends again.
class SseParser {
 public:
  using OnEvent = std::function<bool(const SseEvent&)>;  // false: stop

  explicit SseParser(std::size_t event_max = std::size_t{1} << 20) : event_max_(event_max) {}

  // Answers with false when on_event asked to stop. Error: BodyTooLarge, for an event beyond the
  // limit; the parser is of no more use then.
  Result<bool> feed(std::string_view bytes, const OnEvent& on_event);

 private:
  Result<bool> end_line(const OnEvent& on_event);

  std::size_t event_max_;
  std::string line_;
  bool skip_newline_ = false;  // the last byte was a CR, so an LF belongs to it
  bool at_start_ = true;       // a byte order mark may still come
  std::string id_;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
};

}  // namespace muster::cli
