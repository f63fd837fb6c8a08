#include "document/json_escapes.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace muster::document {
namespace {

constexpr std::size_t kEscape = 6;  // "\uXXXX"

std::optional<std::uint32_t> escape_at(std::string_view text, std::size_t at) {
  if (at + kEscape > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  std::uint32_t code = 0;
  const char* const end = text.data() + at + kEscape;
  const auto [stop, error] = std::from_chars(text.data() + at + 2, end, code, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return code;
}

std::optional<std::uint32_t> pair_at(std::string_view text, std::size_t at) {
  const std::optional<std::uint32_t> high = escape_at(text, at);
  if (!high || *high < 0xD800 || *high > 0xDBFF) return std::nullopt;
  const std::optional<std::uint32_t> low = escape_at(text, at + kEscape);
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
  return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
}

void append_utf8(std::string& out, std::uint32_t code) {
  out += static_cast<char>(0xF0 | (code >> 18));
  out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
  out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
  out += static_cast<char>(0x80 | (code & 0x3F));
}

}  // namespace

std::string join_surrogates(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return {};
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos;) {
    if (const std::optional<std::uint32_t> code = pair_at(text, at)) {
      out.append(text.substr(copied, at - copied));
      append_utf8(out, *code);
      at += 2 * kEscape;
      copied = at;
    } else {
      at += 2;  // also over an escaped backslash
    }
    at = text.find('\\', at);
  }
  if (copied == 0) return {};
  out.append(text.substr(copied));
  return out;
}

}  // namespace muster::document
