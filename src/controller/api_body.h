#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/field_errors.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

// Strict reading of request bodies: everything that is wrong is collected, with a JSON pointer to
// it, so that a caller hears of all mistakes at once.

namespace muster::controller {

// The mistakes found so far. At most kMax are kept, whatever a client sends.
class Problems {
 public:
  static constexpr std::size_t kMax = 100;

  void add(std::string pointer, ErrorCode code, std::string detail);
  void add_all(std::vector<FieldError> errors);
  bool empty() const { return fields_.empty(); }
  // Whether something is wrong at this very place.
  bool has(std::string_view pointer) const;
  bool full() const { return fields_.size() >= kMax; }
  // One error for all. REQUIRES: not empty
  Error to_error() const;

 private:
  std::vector<FieldError> fields_;
  std::size_t dropped_ = 0;
};

// Reads the fields of one JSON object. A getter answers with nothing if the field is absent, null
// or wrong; a wrong one is reported. finish() reports fields that nobody asked for, with the
// nearest of the names that were. Borrows everything; lives for one call.
class ObjectReader {
 public:
  // Anything but an object is reported and read as an empty one.
  ObjectReader(const Json& value, std::string pointer, Problems& problems);

  const Json* find(std::string_view field);
  // Whether the field is there with the value null, which find() takes as absent.
  bool is_null(std::string_view field) const;
  // Reports a field that is absent or null.
  const Json* require(std::string_view field);
  std::optional<std::string> text(std::string_view field, std::size_t characters_max,
                                  bool may_be_empty = false);
  std::optional<bool> flag(std::string_view field);
  std::optional<std::uint64_t> number(std::string_view field, std::uint64_t min, std::uint64_t max);
  // A number of seconds or a string like "90s".
  std::optional<Duration> duration(std::string_view field);
  std::optional<Timestamp> time(std::string_view field);
  // A wrong entry is empty in the answer, so that the others keep their places.
  std::optional<std::vector<std::string>> texts(std::string_view field, std::size_t count_max,
                                                std::size_t characters_max);
  void invalid(std::string_view field, std::string detail);
  std::string pointer_to(std::string_view field) const;
  void finish();

 private:
  const Json& object_;
  const std::string pointer_;
  Problems& problems_;
  std::vector<std::string_view> known_;
};

// A request body. Errors: InvalidJson, JsonTooDeep, BodyTooLarge.
Result<Json> parse_body(std::string_view body);

// What is wrong with a text that people will read in tables and type in commands; nothing if it is
// fine. `text` must be valid UTF-8, which parse_json guarantees.
std::optional<std::string> text_problem(std::string_view text, std::size_t characters_max,
                                        bool may_be_empty);

}  // namespace muster::controller
