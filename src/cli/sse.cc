#include "cli/sse.h"

namespace muster::cli {

Result<bool> SseParser::feed(std::string_view bytes, const OnEvent& on_event) {
  for (const char byte : bytes) {
    const bool belongs_to_cr = skip_newline_ && byte == '\n';
    skip_newline_ = byte == '\r';
    if (belongs_to_cr) continue;
    if (byte == '\r' || byte == '\n') {
      MUSTER_TRY_ASSIGN(const bool go_on, end_line(on_event));
      if (!go_on) return false;
      continue;
    }
    if (line_.size() + data_.size() >= event_max_) {
      return fail(ErrorCode::BodyTooLarge, "an event of the stream exceeds {} bytes", event_max_);
    }
    line_ += byte;
  }
  return true;
}

Result<bool> SseParser::end_line(const OnEvent& on_event) {
  std::string line;
  line.swap(line_);
  if (at_start_ && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  at_start_ = false;
  if (line.empty()) {
    const bool complete = has_data_;
    SseEvent event{id_, type_.empty() ? "message" : type_, std::move(data_)};
    type_.clear();
    data_.clear();
    has_data_ = false;
    return complete ? on_event(event) : true;
  }
  if (line.front() == ':') return true;  // a comment: the heartbeat
  const std::size_t colon = line.find(':');
  const std::string_view field = std::string_view(line).substr(0, colon);
  std::string_view value =
      colon == std::string::npos ? std::string_view() : std::string_view(line).substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "event") {
    type_ = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  }
  return true;
}

}  // namespace muster::cli
