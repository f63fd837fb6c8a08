#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "document/value.h"

namespace muster::document {

// What a YAML text consists of, one thing after the other.
struct YamlEvent {
  enum class Kind : std::uint8_t {
    DocumentStart,
    Text,
    Alias,
    ListStart,
    ListEnd,
    MapStart,
    MapEnd,
    End,
  };

  Kind kind = Kind::End;
  Mark mark;
  std::string_view text;  // of a Text; valid until the next call of next()
  bool quoted = false;    // a Text in quotes, or a block of text
  bool has_anchor = false;
  std::string_view tag;  // an explicit one; empty: none
};

// The one file that knows libyaml. Borrows the text, which must outlive it.
class YamlParser {
 public:
  explicit YamlParser(std::string_view text);
  ~YamlParser();
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;

  // Nothing: the text is not YAML, and error() says why. After End there is no more to ask for.
  std::optional<YamlEvent> next();

  struct SyntaxError {
    Mark mark;
    std::string message;
  };
  const SyntaxError& error() const { return error_; }

 private:
  struct State;

  void set_error();

  std::string_view text_;
  std::unique_ptr<State> state_;
  SyntaxError error_;
};

}  // namespace muster::document
