#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field_errors.h"
#include "base/nearest.h"
#include "http/percent.h"
#include "http/router.h"

namespace muster::http {

namespace {

constexpr std::size_t kPairsMax = 256;

// Wrong pairs are named by "?key", next to the JSON pointers of a body.
FieldError wrong(std::string_view key, ErrorCode code, std::string detail) {
  return {fmt::format("?{}", key), code, std::move(detail)};
}

FieldError unknown_key(const std::string& key, const std::vector<std::string>& known_keys) {
  std::string detail = fmt::format("query parameter \"{}\" does not exist", key);
  const std::vector<std::string_view> candidates(known_keys.begin(), known_keys.end());
  if (const std::string_view guess = nearest_word(key, candidates); !guess.empty()) {
    detail += fmt::format(", did you mean \"{}\"?", guess);
  } else if (known_keys.empty()) {
    detail += ", none is taken here";
  } else {
    detail += fmt::format(", use one of {}", fmt::join(known_keys, ", "));
  }
  return wrong(key, ErrorCode::UnknownField, std::move(detail));
}

}  // namespace

Result<Query> Query::parse(std::string_view raw, const std::vector<std::string>& known_keys) {
  std::vector<FieldError> errors;
  Query query = parse(raw, known_keys, errors);
  if (!errors.empty()) return fail(gather(std::move(errors)));
  return query;
}

Query Query::parse(std::string_view raw, const std::vector<std::string>& known_keys,
                   std::vector<FieldError>& errors) {
  Query query;
  std::size_t pairs = 0;
  while (!raw.empty()) {
    const std::size_t end = std::min(raw.find('&'), raw.size());
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (pair.empty()) continue;
    if (++pairs > kPairsMax) {
      errors.push_back(
          {"?", ErrorCode::InvalidRequest,
           fmt::format("query has too many parameters, at most {} are allowed", kPairsMax)});
      return query;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view raw_key = pair.substr(0, equals);
    const std::string_view raw_value = pair.substr(std::min(equals + 1, pair.size()));
    auto key = percent_decode(raw_key, PlusIs::Space);
    auto value = percent_decode(raw_value, PlusIs::Space);
    if (!key || !value) {
      errors.push_back(wrong(
          raw_key, ErrorCode::InvalidValue,
          fmt::format("query parameter \"{}\" has a '%' that is not followed by two hex digits",
                      pair)));
    } else if (std::find(known_keys.begin(), known_keys.end(), *key) == known_keys.end()) {
      errors.push_back(unknown_key(*key, known_keys));
    } else {
      query.values_.emplace(std::move(*key), std::move(*value));
    }
  }
  return query;
}

bool Query::has(std::string_view key) const { return values_.find(key) != values_.end(); }

std::string Query::get(std::string_view key) const {
  // lower_bound is the first value given; find() may answer with any of them.
  const auto it = values_.lower_bound(key);
  return it != values_.end() && it->first == key ? it->second : std::string();
}

std::vector<std::string> Query::all(std::string_view key) const {
  std::vector<std::string> out;
  const auto [first, last] = values_.equal_range(key);
  for (auto it = first; it != last; ++it) out.push_back(it->second);
  return out;
}

}  // namespace muster::http
