#include "cli/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/utf8.h"

namespace muster::cli {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kNodesMax = 100'000;
constexpr std::size_t kBytesMax = std::size_t{16} << 20;

std::optional<Json> read_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(digits.data(), end, integer);
      error == std::errc() && stop == end) {
    return Json(integer);
  }
  std::uint64_t large = 0;
  if (auto [stop, error] = std::from_chars(digits.data(), end, large);
      error == std::errc() && stop == end) {
    return Json(large);
  }
  // "nan" and "inf" are words here, and JSON has no such numbers.
  if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  double real = 0;
  if (auto [stop, error] = std::from_chars(digits.data(), end, real);
      error == std::errc() && stop == end && std::isfinite(real)) {
    return Json(real);
  }
  return std::nullopt;
}

// What a scalar without quotes means: the core schema, so "yes" and "on" are words.
Json read_plain(const std::string& text) {
  static constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
  for (const std::string_view word : kNulls) {
    if (text == word) return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (std::optional<Json> number = read_number(text)) return *number;
  return text;
}

// Goes through a text before anything is built from it. yaml-cpp answers with one empty document
// after the other, without end, where a token stands that no document can start with.
class Survey final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_ && mark.pos == start_) throw YAML::ParserException(mark, "nothing can start here");
    started_ = true;
    start_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    count(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    count(mark);
  }
  void OnMapEnd() override {}

 private:
  void count(const YAML::Mark& mark) {
    // A key is a value here too.
    if (++values_ > 2 * kNodesMax) throw YAML::ParserException(mark, "too many values");
  }

  bool started_ = false;
  int start_ = 0;
  std::size_t values_ = 0;
};

class Reader {
 public:
  Result<Json> read(const YAML::Node& node, std::size_t depth) {
    if (depth > kDepthMax) {
      return fail(ErrorCode::InvalidValue, "YAML is nested deeper than {} at line {}", kDepthMax,
                  node.Mark().line + 1);
    }
    if (++nodes_ > kNodesMax) {
      return fail(ErrorCode::InvalidValue, "YAML has more than {} values, aliases counted",
                  kNodesMax);
    }
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return Json(nullptr);
      case YAML::NodeType::Scalar:
        // yaml-cpp tags a quoted scalar "!" and a plain one "?".
        if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return Json(node.Scalar());
        return read_plain(node.Scalar());
      case YAML::NodeType::Sequence:
        return read_sequence(node, depth);
      case YAML::NodeType::Map:
        return read_map(node, depth);
    }
    return Json(nullptr);
  }

 private:
  Result<Json> read_sequence(const YAML::Node& node, std::size_t depth) {
    Json array = Json::array();
    for (const YAML::Node& item : node) {
      MUSTER_TRY_ASSIGN(Json value, read(item, depth + 1));
      array.push_back(std::move(value));
    }
    return array;
  }

  Result<Json> read_map(const YAML::Node& node, std::size_t depth) {
    Json object = Json::object();
    for (const auto& entry : node) {
      const YAML::Mark mark = entry.first.Mark();
      if (!entry.first.IsScalar()) {
        return fail(ErrorCode::InvalidValue, "YAML key at line {}, column {} is no scalar",
                    mark.line + 1, mark.column + 1);
      }
      const std::string& key = entry.first.Scalar();
      if (object.contains(key)) {
        return fail(ErrorCode::InvalidValue, "YAML key '{}' at line {}, column {} is there twice",
                    key, mark.line + 1, mark.column + 1);
      }
      MUSTER_TRY_ASSIGN(Json value, read(entry.second, depth + 1));
      object[key] = std::move(value);
    }
    return object;
  }

  std::size_t nodes_ = 0;
};

void emit(YAML::Emitter& out, const Json& value);

void emit_string(YAML::Emitter& out, const std::string& text) {
  const bool many_lines = text.find('\n') != std::string::npos;
  const bool odd = text.find_first_of("\t\r") != std::string::npos || text.starts_with(' ') ||
                   text.ends_with(' ');
  if (many_lines && !odd && !text.starts_with('\n') && text.ends_with('\n') &&
      !text.ends_with("\n\n")) {
    out << YAML::Literal << text;
  } else if (many_lines || odd || !read_plain(text).is_string()) {
    out << YAML::DoubleQuoted << text;
  } else {
    out << text;
  }
}

void emit(YAML::Emitter& out, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      if (value.empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const auto& [key, item] : value.items()) {
        out << YAML::Key;
        emit_string(out, key);
        out << YAML::Value;
        emit(out, item);
      }
      out << YAML::EndMap;
      break;
    case Json::value_t::array:
      if (value.empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Json& item : value) emit(out, item);
      out << YAML::EndSeq;
      break;
    case Json::value_t::string:
      emit_string(out, value.get_ref<const std::string&>());
      break;
    case Json::value_t::null:
      out << YAML::Null;
      break;
    default:
      out << dump_json(value);
      break;  // numbers and booleans are written as in JSON
  }
}

// The parser lets any byte pass, and JSON could not hold it.
Result<void> check_utf8(std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) {
      return fail(ErrorCode::InvalidValue, "not UTF-8: line {} has the byte 0x{:02x}", line,
                  static_cast<unsigned char>(text.front()));
    }
    line += text.front() == '\n' ? 1U : 0U;
    text.remove_prefix(character.bytes);
  }
  return {};
}

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  if (text.size() > kBytesMax) {
    return fail(ErrorCode::BodyTooLarge, "YAML of {} bytes is larger than {}", text.size(),
                kBytesMax);
  }
  MUSTER_TRY(check_utf8(text));
  try {
    const std::string whole(text);
    std::istringstream stream(whole);
    YAML::Parser parser(stream);
    Survey survey;
    while (parser.HandleNextDocument(survey)) {
    }
    const std::vector<YAML::Node> documents = YAML::LoadAll(whole);
    Reader reader;
    if (documents.size() == 1) return reader.read(documents.front(), 0);
    Json all = Json::array();
    for (const YAML::Node& document : documents) {
      MUSTER_TRY_ASSIGN(Json value, reader.read(document, 1));
      if (!value.is_null()) all.push_back(std::move(value));  // an empty document between "---"
    }
    return all;
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::InvalidValue, "not YAML: {} (line {}, column {})", error.msg,
                error.mark.line + 1, error.mark.column + 1);
  }
}

std::string dump_yaml(const Json& value) {
  // Through text once, so that invalid UTF-8 is replaced as in the JSON output.
  const Result<Json> clean = parse_json(dump_json(value), {.bytes_max = std::size_t{1} << 30});
  YAML::Emitter out;
  emit(out, clean ? *clean : value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace muster::cli
