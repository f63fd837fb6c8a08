#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// Points and spans of time as plain numbers of microseconds. There is no clock here: every "now" in
// the core comes in as an input, so that the same inputs always give the same outputs.

namespace muster {

struct Duration {
  std::int64_t us = 0;

  static constexpr Duration micros(std::int64_t n) { return {n}; }
  static constexpr Duration millis(std::int64_t n) { return {n * 1000}; }
  static constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
  static constexpr Duration hours(std::int64_t n) { return seconds(n * 3600); }
  static constexpr Duration days(std::int64_t n) { return hours(n * 24); }

  constexpr bool is_zero() const { return us == 0; }
  constexpr double as_seconds() const { return static_cast<double>(us) / 1e6; }
  constexpr auto operator<=>(const Duration&) const = default;
};

// Microseconds since the Unix epoch, UTC. Zero stands for "never" in records.
struct Timestamp {
  std::int64_t us = 0;

  constexpr bool is_set() const { return us != 0; }
  constexpr auto operator<=>(const Timestamp&) const = default;
};

constexpr Duration operator+(Duration a, Duration b) { return {a.us + b.us}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.us - b.us}; }
constexpr Duration operator*(Duration a, std::int64_t n) { return {a.us * n}; }
constexpr Timestamp operator+(Timestamp t, Duration d) { return {t.us + d.us}; }
constexpr Timestamp operator-(Timestamp t, Duration d) { return {t.us - d.us}; }
constexpr Duration operator-(Timestamp a, Timestamp b) { return {a.us - b.us}; }

// RFC 3339 in UTC with as many fraction digits as needed ("2026-11-15T19:26:00Z",
// "2026-11-15T19:26:00.25Z"); an unset timestamp is the empty string.
std::string format_rfc3339(Timestamp time);
// The same with six fraction digits always, so that texts sort as the times do.
std::string format_rfc3339_micros(Timestamp time);
// Accepts any RFC 3339 offset. Years 1970 to 9999.
Result<Timestamp> parse_rfc3339(std::string_view text);

// "90s", "1h30m", "250ms". The shortest exact form.
std::string format_duration(Duration duration);
// Accepts what format_duration prints, and a bare number as seconds ("90", "1.5"). Not negative.
Result<Duration> parse_duration(std::string_view text);
// For people: two units at most ("3m", "2h5m", "4d").
std::string format_age(Duration duration);

}  // namespace muster
