#include "sitefile/xml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/number.h"
#include "base/utf8.h"
#include "model/quoted.h"
#include "sitefile/text_file.h"

namespace muster::sitefile {
namespace {

using document::Mark;

constexpr std::size_t kEntityMax = 12;  // "&#x10FFFF;" and some zeros

// Turns offsets into lines and columns, which are counted in characters. Offsets do not go back:
// looking for each from the start would take the square of the text's length.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text) {}

  Mark at(std::size_t offset) {
    for (offset = std::min(offset, text_.size()); offset_ < offset; ++offset_) {
      if (text_[offset_] == '\n') {
        ++mark_.line;
        mark_.column = 1;
      } else if ((text_[offset_] & 0xC0) != 0x80) {
        ++mark_.column;
      }
    }
    return mark_;
  }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  Mark mark_{1, 1};
};

bool is_xml_character(std::uint32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return c <= 0xD7FF || (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

// `body` is what stands between '&' and ';'.
bool is_known_entity(std::string_view body) {
  if (body == "amp" || body == "lt" || body == "gt" || body == "quot" || body == "apos")
    return true;
  if (!body.starts_with('#')) return false;
  body.remove_prefix(1);
  const int base = body.starts_with('x') ? 16 : 10;
  if (base == 16) body.remove_prefix(1);
  const auto value = whole_number<std::uint32_t>(body, base);
  return value && is_xml_character(*value);
}

bool is_utf8_name(std::string encoding) {
  encoding = in_lower_case(std::move(encoding));
  return encoding == "utf-8" || encoding == "utf8" || encoding == "us-ascii" || encoding == "ascii";
}

class XmlReader {
 public:
  XmlReader(std::string_view text, const std::string& file, const XmlLimits& limits)
      : text_(text), file_(file), limits_(limits) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  ReadXmlDocument read() && {
    if (text_.size() > limits_.bytes_max) {
      tell({}, fmt::format("the file has {} bytes; at most {} are allowed", text_.size(),
                           limits_.bytes_max));
    } else if (scan_bytes() && scan_markup()) {
      parse();
    }
    return std::move(read_);
  }

 private:
  // Whether the text can be given to the parser, which takes much more than it should.
  bool scan_bytes() {
    Locator locator(text_);
    for (std::size_t i = 0; i < text_.size();) {
      const auto byte = static_cast<unsigned char>(text_[i]);
      if (byte >= 0x20 && byte < 0x80) {
        ++i;
        continue;
      }
      const Character character = first_character(text_.substr(i));
      if (!character.valid || !is_xml_character(static_cast<std::uint32_t>(character.value))) {
        tell(locator.at(i),
             "a byte that is not UTF-8, or a control character that XML does not "
             "allow");
        return false;
      }
      i += character.bytes;
    }
    return true;
  }

  bool scan_markup() {
    Locator locator(text_);
    std::size_t elements = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const std::string_view rest = text_.substr(i);
      if (rest.front() == '&') {
        const std::size_t end = rest.substr(0, kEntityMax).find(';');
        const std::string_view body =
            end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
        if (!is_known_entity(body)) {
          tell(locator.at(i),
               "an '&' that begins no character known here; write &amp;, &lt;, "
               "&gt;, &quot;, &apos; or the number of a character");
        }
        ++i;
      } else if (rest.front() != '<') {
        i = std::min(text_.find_first_of("<&", i), text_.size());
      } else if (const std::optional<std::size_t> length = passed_over(rest)) {
        i += *length;
      } else if (rest.starts_with("<!")) {
        tell(locator.at(i), "a document type; it is not read, and may not stand here");
        return false;
      } else {
        if (!rest.starts_with("</") && ++elements > limits_.elements_max) {
          tell(locator.at(i),
               fmt::format("more than {} elements in one file", limits_.elements_max));
          return false;
        }
        ++i;
      }
    }
    return read_.problems.empty();
  }

  // The length of a comment, of marked text or of an instruction at the start of `rest`.
  static std::optional<std::size_t> passed_over(std::string_view rest) {
    static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    for (const auto& [start, end] : kKinds) {
      if (!rest.starts_with(start)) continue;
      const std::size_t found = rest.find(end, start.size());
      return found == std::string_view::npos ? rest.size() : found + end.size();
    }
    return std::nullopt;
  }

  void parse() {
    pugi::xml_document document;
    // A fragment, so that text beside the element is not passed over in silence.
    const unsigned options = (pugi::parse_default | pugi::parse_ws_pcdata_single |
                              pugi::parse_fragment | pugi::parse_declaration) &
                             ~pugi::parse_doctype;
    const pugi::xml_parse_result result =
        document.load_buffer(text_.data(), text_.size(), options, pugi::encoding_utf8);
    Locator locator(text_);
    if (!result) {
      tell(locator.at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0))),
           fmt::format("not XML: {}", lower_first(result.description())));
      return;
    }
    bool found = false;
    for (const pugi::xml_node node : document.children()) {
      const Mark mark = mark_of(node, locator);
      if (node.type() == pugi::node_declaration) {
        check_encoding(node, mark);
      } else if (node.type() != pugi::node_element) {
        if (!is_blank(node.value())) tell(mark, "text that stands in no element");
      } else if (found) {
        tell(mark, "a second first element; a file has one");
      } else {
        found = true;
        take(node, read_.root, 1, locator);
      }
    }
    if (!found && read_.problems.empty()) tell({}, "has no element");
  }

  void check_encoding(const pugi::xml_node& declaration, const Mark& mark) {
    const pugi::xml_attribute encoding = declaration.attribute("encoding");
    if (!encoding || is_utf8_name(encoding.value())) return;
    tell(mark,
         fmt::format("the encoding {}; files are read as UTF-8", model::quoted(encoding.value())));
  }

  void take(const pugi::xml_node& from, XmlElement& into, std::size_t depth, Locator& locator) {
    into.name = from.name();
    into.mark = mark_of(from, locator);
    if (depth > limits_.depth_max) {
      tell(into.mark, fmt::format("nested deeper than {} levels", limits_.depth_max));
      return;
    }
    for (const pugi::xml_attribute attribute : from.attributes()) {
      if (into.attribute(attribute.name()) != nullptr) {
        tell(into.mark,
             fmt::format("<{}> has the attribute '{}' twice", into.name, attribute.name()));
      }
      into.attributes.push_back({attribute.name(), attribute.value()});
    }
    for (const pugi::xml_node child : from.children()) {
      if (child.type() == pugi::node_element) {
        take(child, into.children.emplace_back(), depth + 1, locator);
      } else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
        into.text += child.value();
      }
    }
  }

  static Mark mark_of(const pugi::xml_node& node, Locator& locator) {
    const std::ptrdiff_t offset = node.offset_debug();
    if (offset < 0) return {};
    // Of an element, the parser tells where its name begins.
    const std::ptrdiff_t sign = node.type() == pugi::node_element && offset > 0 ? 1 : 0;
    return locator.at(static_cast<std::size_t>(offset - sign));
  }

  static bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  }

  static std::string lower_first(std::string text) {
    if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
      text[0] = static_cast<char>(text[0] - 'A' + 'a');
    }
    return text;
  }

  void tell(const Mark& mark, std::string message) {
    if (read_.problems.size() < limits_.problems_max) {
      read_.problems.push_back({{file_, mark.line, mark.column}, std::move(message)});
    }
  }

  std::string_view text_;
  const std::string& file_;
  const XmlLimits& limits_;
  ReadXmlDocument read_;
};

}  // namespace

const std::string* XmlElement::attribute(std::string_view wanted) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const XmlAttribute& each) { return each.name == wanted; });
  return found == attributes.end() ? nullptr : &found->value;
}

ReadXmlDocument read_xml_document(std::string_view text, const std::string& file,
                                  const XmlLimits& limits) {
  return XmlReader(text, file, limits).read();
}

}  // namespace muster::sitefile
