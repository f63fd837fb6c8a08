#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

// Log lines of every process: a constant message plus key=value pairs, so that a line can be found
// by its message and read by a program.
//
//   log::info("agent connected", {{"agent", name}, {"sessions", count}});
//
// Text lines are for people, JSON lines (one object each) for collectors; both go to stderr, since
// stdout belongs to data. Every function may be called from any thread. A line that cannot be
// written is dropped: logging never fails its caller. Before init() the level is info, the format
// text.

namespace muster::log {

enum class Level : std::uint8_t { Debug, Info, Warn, Error };
enum class Format : std::uint8_t { Text, Json };

// "debug", "info", "warn", "error"; "text", "json". Error code: InvalidValue.
Result<Level> parse_level(std::string_view text);
Result<Format> parse_format(std::string_view text);

struct Options {
  Level level = Level::Info;
  Format format = Format::Text;
  std::FILE* stream = nullptr;  // borrowed for the life of the process; null: stderr
};

// Replaces the settings. Meant for the start of a process: each call keeps a little memory for
// good, because another thread may still be writing with the settings that it replaces.
void init(const Options& options);

// Whether a line of this level would be written; guards fields that are costly to make.
bool enabled(Level level);

// The value of a pair. Text is borrowed: it only has to live until the call returns.
class Value {
 public:
  Value(bool value) : value_(value) {}
  template <std::signed_integral T>
  Value(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : value_(static_cast<std::uint64_t>(value)) {}
  Value(double value) : value_(value) {}
  Value(std::string_view value) : value_(value) {}
  Value(const std::string& value) : value_(std::string_view(value)) {}
  Value(const char* value) : value_(std::string_view(value)) {}

  using Variant = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view>;
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

struct Field {
  std::string_view key;
  Value value;
};
using Fields = std::initializer_list<Field>;

// Only a literal converts, which keeps the message constant; what varies belongs in the pairs.
class Message {
 public:
  consteval Message(const char* text) : text_(text) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

void write(Level level, Message message, Fields fields);

inline void debug(Message message, Fields fields = {}) { write(Level::Debug, message, fields); }
inline void info(Message message, Fields fields = {}) { write(Level::Info, message, fields); }
inline void warn(Message message, Fields fields = {}) { write(Level::Warn, message, fields); }
inline void error(Message message, Fields fields = {}) { write(Level::Error, message, fields); }

}  // namespace muster::log
