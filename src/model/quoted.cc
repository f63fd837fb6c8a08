#include "model/quoted.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::model {
namespace {

constexpr std::size_t kQuotedMax = 80;

}  // namespace

std::string quoted(std::string_view text) {
  std::size_t cut = std::min(text.size(), kQuotedMax);
  // Not in the middle of a character.
  while (cut < text.size() && cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) {
    --cut;
  }
  std::string shown = "'";
  for (const char c : text.substr(0, cut)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      shown += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  shown += cut < text.size() ? "...'" : "'";
  return shown;
}

std::string quoted_list(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += model::quoted(words[i]);
  }
  return text;
}

std::string arrows(std::span<const std::string> cycle) {
  std::string text;
  for (const std::string& member : cycle) text += member + " -> ";
  return text + cycle.front();
}

}  // namespace muster::model
