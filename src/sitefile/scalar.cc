#include "sitefile/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"

namespace muster::sitefile {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Characters that a reader of YAML does not take as they are, or takes for the end of a line.
bool needs_escape(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
         c == 0xFFFE || c == 0xFFFF;
}

template <typename Take>
void for_each_character(std::string_view text, Take take) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.valid) {
      take(character.value, text.substr(0, character.bytes));
    } else {
      take(kReplacement, std::string_view("\xEF\xBF\xBD"));
    }
    text.remove_prefix(character.bytes);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whole numbers and truth values are what they look like to every reader. What others would change
// when they write it back, such as 1.10, 0755 or `yes`, is put in quotes.
bool is_plain_word(std::string_view text) {
  if (text == "true" || text == "false" || text == "0") return true;
  return !text.empty() && text.size() <= 15 && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), is_digit);
}

bool looks_like_something_else(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                             "on",   "off",  "y",     "n"};
  const std::string lower = in_lower_case(std::string(text));
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return true;
  // Numbers of all kinds, and dates, begin with a digit and have few other characters. An address
  // or a version of three numbers is a text to everybody.
  if (!is_digit(text.front())) return false;
  const auto numeric = [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == ':' || c == '+';
  };
  const bool all = std::all_of(text.begin(), text.end(), numeric);
  return all && std::count(text.begin(), text.end(), '.') < 2;
}

bool is_plain_inside(char c, bool flow) {
  static constexpr std::string_view kOthers = "_-./+@=%~()$^&*;<>|'\"?!\\";
  if (is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos) return true;
  return !flow && c == ',';
}

bool is_plain(std::string_view text, bool flow) {
  if (text.empty()) return false;
  if (is_plain_word(text)) return true;
  const char first = text.front();
  if (!is_alphanumeric(first) && first != '/' && first != '_') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool before_text = is_alphanumeric(next) || next == '/';
    if (text[i] == ':' || text[i] == ' ') {
      // In braces a ':' is read differently by different readers.
      if (!before_text || (flow && text[i] == ':')) return false;
    } else if (!is_plain_inside(text[i], flow)) {
      return false;
    }
  }
  return !looks_like_something_else(text);
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  for_each_character(text, [&](char32_t c, std::string_view bytes) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += bytes;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (needs_escape(c)) {
      quoted += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      quoted += bytes;
    }
  });
  return quoted + "\"";
}

std::string yaml_scalar(std::string_view text, bool flow) {
  if (is_plain(text, flow)) return std::string(text);
  bool single = true;
  for_each_character(text, [&](char32_t c, std::string_view) {
    if (needs_escape(c) || c == '\'' || c == kReplacement) single = false;
  });
  return single ? fmt::format("'{}'", text) : json_quoted(text);
}

bool is_block(std::string_view text) {
  // Anything else would need marks about its indentation and its end.
  if (text.size() < 2 || text.back() != '\n' || text[text.size() - 2] == '\n') return false;
  if (text.front() == ' ' || text.front() == '\n' || text.front() == '\t') return false;
  bool fits = true;
  for_each_character(text, [&](char32_t c, std::string_view) {
    if ((needs_escape(c) && c != '\n' && c != '\t') || c == kReplacement) fits = false;
  });
  return fits;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for_each_character(text, [&](char32_t c, std::string_view bytes) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\r':
        escaped += "&#13;";
        break;
      default:
        escaped += bytes;
    }
  });
  return escaped;
}

bool is_xml_text(std::string_view text) {
  bool fits = true;
  for_each_character(text, [&](char32_t c, std::string_view) {
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xFFFE || c == 0xFFFF) {
      fits = false;
    }
  });
  return fits;
}

}  // namespace muster::sitefile
