#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"

namespace muster::core {

// Reads the fields of one JSON object and collects everything that is wrong with them, so that a
// caller hears of all mistakes at once. A field that was never asked for is unknown; finish()
// reports those, with the nearest of the names that were asked for.
//
// Every getter answers with nothing if the field is absent or wrong; a wrong one is reported. No
// string with a NUL byte passes: none of the values could reach the operating system whole. At most
// kErrorsMax errors are reported, whatever a client sends.
//
// Borrows the object and the list of errors; lives for one call of a decoder.
class FieldReader {
 public:
  static constexpr std::size_t kErrorsMax = 100;

  struct TextLimits {
    std::size_t bytes_max = 4096;
    bool may_be_empty = false;
  };
  // The problem of a value, without its subject ("must be absolute"); nothing if there is none.
  using TextCheck = std::function<std::optional<std::string>(std::string_view)>;

  // An inputs value that is not an object is reported once and read as an empty one.
  FieldReader(const Json& object, std::string_view pointer, std::vector<FieldError>& errors);

  bool has(std::string_view field);
  void require(std::string_view field);

  std::optional<std::string> text(std::string_view field, TextLimits limits,
                                  const TextCheck& check = nullptr);
  std::optional<std::string> one_of(std::string_view field,
                                    const std::vector<std::string_view>& allowed);
  std::optional<bool> flag(std::string_view field);
  // A number of seconds or a duration string.
  std::optional<Duration> duration(std::string_view field, Duration min, Duration max);
  // A number of bytes, or a string like "512MiB" or "1GB".
  std::optional<std::uint64_t> bytes(std::string_view field, std::uint64_t max);
  // A list of whole numbers within bounds.
  std::optional<std::vector<int>> numbers(std::string_view field, int min, int max,
                                          std::size_t count_max);
  // A list of strings; none has more than bytes_max bytes, nor all of them with their ending NULs.
  std::optional<std::vector<std::string>> texts(std::string_view field, std::size_t bytes_max);
  // An object of strings with names that pass `check_name`.
  std::optional<std::map<std::string, std::string>> text_map(std::string_view field,
                                                             std::size_t bytes_max,
                                                             const TextCheck& check_name);
  // An object whose values are strings or lists of strings, as pairs.
  std::optional<std::vector<std::pair<std::string, std::string>>> text_pairs(
      std::string_view field, std::size_t bytes_max, const TextCheck& check_name,
      const TextCheck& check_value);

  // Reports a field that is not there, where require() would say too little.
  void missing(std::string_view field, std::string detail);
  // Reports a value that is well-formed but not allowed.
  void invalid(std::string_view field, std::string detail);
  // Reports the fields that nobody asked for. To be called last.
  void finish();

 private:
  const Json* find(std::string_view field);
  std::string pointer_to(std::string_view field) const;
  void add(std::string pointer, ErrorCode code, std::string detail);
  // Checks one string at `pointer`; nothing if it is wrong.
  std::optional<std::string> checked_text(const Json& value, const std::string& pointer,
                                          std::string_view subject, TextLimits limits,
                                          const TextCheck& check);

  const Json& object_;
  const std::string pointer_;
  std::vector<FieldError>& errors_;
  const std::size_t errors_before_;
  std::vector<std::string_view> known_;
};

}  // namespace muster::core
