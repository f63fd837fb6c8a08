#include "cli/numbers.h"

#include "base/number.h"

namespace muster::cli {

Outcome<void> set_duration(Duration& value, const std::string& text, std::string_view option) {
  if (text.empty()) return {};
  const Result<Duration> parsed = parse_duration(text);
  if (!parsed) return usage("{}: {}", option, parsed.error().message);
  value = *parsed;
  return {};
}

Outcome<void> set_mode(unsigned& value, const std::string& text, std::string_view option) {
  if (text.empty()) return {};
  const auto mode = whole_number<unsigned>(text, 8);
  if (!mode || *mode > 0777) {
    return usage("{}: '{}' is not an octal mode like 0660", option, text);
  }
  value = *mode;
  return {};
}

}  // namespace muster::cli
