#include "document/yaml_parser.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>

#include "base/check.h"

namespace muster::document {
namespace {

Mark to_mark(const yaml_mark_t& mark) {
  return {static_cast<std::int32_t>(mark.line) + 1, static_cast<std::int32_t>(mark.column) + 1};
}

std::string_view to_view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// Where a byte stands, counted in characters as libyaml counts.
Mark mark_of_byte(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(start),
                                    before.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return {static_cast<std::int32_t>(line) + 1, static_cast<std::int32_t>(column) + 1};
}

}  // namespace

struct YamlParser::State {
  yaml_parser_t parser;
  yaml_event_t event;
  bool has_event = false;

  void drop_event() {
    if (has_event) yaml_event_delete(&event);
    has_event = false;
  }
};

YamlParser::YamlParser(std::string_view text) : text_(text), state_(std::make_unique<State>()) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  MUSTER_CHECK(yaml_parser_initialize(&state_->parser) == 1, "no memory for a YAML parser");
  // Told, not guessed: the bytes of a text do not choose how they are read.
  yaml_parser_set_encoding(&state_->parser, YAML_UTF8_ENCODING);
  // An empty view may have no address at all, which libyaml does not take.
  const char* const bytes = text_.empty() ? "" : text_.data();
  yaml_parser_set_input_string(&state_->parser, reinterpret_cast<const unsigned char*>(bytes),
                               text_.size());
}

YamlParser::~YamlParser() {
  state_->drop_event();
  yaml_parser_delete(&state_->parser);
}

void YamlParser::set_error() {
  const yaml_parser_t& parser = state_->parser;
  if (parser.error == YAML_MEMORY_ERROR) {
    error_ = {to_mark(parser.mark), "the text is too large for the memory there is"};
    return;
  }
  if (parser.error == YAML_READER_ERROR) {
    error_ = {mark_of_byte(text_, parser.problem_offset),
              "a byte that is not UTF-8, or a control character that YAML does not allow"};
    return;
  }
  const std::size_t offset = parser.problem_mark.index;
  std::string message = parser.problem == nullptr ? "wrong syntax" : parser.problem;
  if (parser.context != nullptr) {
    message += fmt::format(" {}", parser.context);
    if (parser.context_mark.line != parser.problem_mark.line) {
      message += fmt::format(" that begins in line {}", parser.context_mark.line + 1);
    }
  }
  error_ = {to_mark(parser.problem_mark), std::move(message)};
  // The commonest reason by far, which libyaml does not name. Its marks count characters, so the
  // byte is only the right one as long as the text is ASCII; a wrong guess costs a hint.
  if (offset < text_.size() && text_[offset] == '\t') {
    error_.message = "a tab; YAML is indented with spaces";
  }
}

std::optional<YamlEvent> YamlParser::next() {
  state_->drop_event();
  yaml_event_t& event = state_->event;
  while (true) {
    if (yaml_parser_parse(&state_->parser, &event) != 1) {
      set_error();
      return std::nullopt;
    }
    state_->has_event = true;
    if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_END_EVENT) break;
    state_->drop_event();
  }
  YamlEvent told;
  told.mark = to_mark(event.start_mark);
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      told.kind = YamlEvent::Kind::DocumentStart;
      break;
    case YAML_ALIAS_EVENT:
      told.kind = YamlEvent::Kind::Alias;
      break;
    case YAML_SCALAR_EVENT:
      told.kind = YamlEvent::Kind::Text;
      told.text = {reinterpret_cast<const char*>(event.data.scalar.value),
                   event.data.scalar.length};
      told.quoted = event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
      told.has_anchor = event.data.scalar.anchor != nullptr;
      told.tag = to_view(event.data.scalar.tag);
      break;
    case YAML_SEQUENCE_START_EVENT:
      told.kind = YamlEvent::Kind::ListStart;
      told.has_anchor = event.data.sequence_start.anchor != nullptr;
      told.tag = to_view(event.data.sequence_start.tag);
      break;
    case YAML_SEQUENCE_END_EVENT:
      told.kind = YamlEvent::Kind::ListEnd;
      break;
    case YAML_MAPPING_START_EVENT:
      told.kind = YamlEvent::Kind::MapStart;
      told.has_anchor = event.data.mapping_start.anchor != nullptr;
      told.tag = to_view(event.data.mapping_start.tag);
      break;
    case YAML_MAPPING_END_EVENT:
      told.kind = YamlEvent::Kind::MapEnd;
      break;
    default:
      told.kind = YamlEvent::Kind::End;
      break;
  }
  return told;
}

}  // namespace muster::document
