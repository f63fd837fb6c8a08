#include "base/time.h"

#include <array>
#include <charconv>
#include <limits>

namespace muster {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kYear10000 = 253'402'300'800;

// Days since 1970-01-01 of a date in the proleptic Gregorian calendar, and back. Shifting the year
// to start in March puts the leap day last, which makes both directions plain arithmetic.
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + static_cast<std::int64_t>(day_of_era) - 719'468;
}

struct Civil {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = days / 146'097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146'097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const unsigned month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

unsigned days_in_month(std::int64_t year, unsigned month) {
  static constexpr std::array<unsigned, 12> kDays = {31, 28, 31, 30, 31, 30,
                                                     31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Reads exactly `digits` digits at the front of `text`.
bool take_number(std::string_view& text, std::size_t digits, unsigned& value) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits) return false;
  text.remove_prefix(digits);
  return true;
}

bool take_char(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// Digits after a decimal separator, as a whole number of millionths; further digits are dropped.
bool take_fraction(std::string_view& text, std::int64_t& micros) {
  micros = 0;
  std::int64_t scale = 100'000;
  std::size_t digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    micros += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
    ++digits;
  }
  return digits > 0;
}

bool take_offset(std::string_view& text, std::int64_t& seconds) {
  seconds = 0;
  if (take_char(text, 'Z') || take_char(text, 'z')) return true;
  const bool minus = !text.empty() && text.front() == '-';
  if (!take_char(text, '+') && !take_char(text, '-')) return false;
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!take_number(text, 2, hours) || !take_char(text, ':') || !take_number(text, 2, minutes) ||
      hours > 23 || minutes > 59) {
    return false;
  }
  seconds = (std::int64_t{hours} * 3600 + std::int64_t{minutes} * 60) * (minus ? -1 : 1);
  return true;
}

void append_fraction(std::string& text, std::int64_t micros) {
  if (micros == 0) return;
  text += fmt::format(".{:06}", micros);
  while (text.back() == '0') text.pop_back();
}

struct Unit {
  std::string_view suffix;
  std::int64_t us;
};
// Longest suffix first where one is the start of another ("ms" before "m").
constexpr std::array<Unit, 6> kUnits = {{{"us", 1},
                                         {"ms", 1000},
                                         {"d", kDay* kSecond},
                                         {"h", 3600 * kSecond},
                                         {"m", 60 * kSecond},
                                         {"s", kSecond}}};

}  // namespace

namespace {

// "2026-11-15T19:26:00", and the millionths that are left.
std::string format_seconds(Timestamp time, std::int64_t& micros) {
  std::int64_t seconds = time.us / kSecond;
  micros = time.us % kSecond;
  if (micros < 0) {
    micros += kSecond;
    --seconds;
  }
  std::int64_t days = seconds / kDay;
  std::int64_t of_day = seconds % kDay;
  if (of_day < 0) {
    of_day += kDay;
    --days;
  }
  const Civil date = civil_from_days(days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.year, date.month, date.day,
                     of_day / 3600, of_day / 60 % 60, of_day % 60);
}

}  // namespace

std::string format_rfc3339(Timestamp time) {
  if (!time.is_set()) return {};
  std::int64_t micros = 0;
  std::string text = format_seconds(time, micros);
  append_fraction(text, micros);
  text += 'Z';
  return text;
}

std::string format_rfc3339_micros(Timestamp time) {
  if (!time.is_set()) return {};
  std::int64_t micros = 0;
  const std::string text = format_seconds(time, micros);
  return fmt::format("{}.{:06}Z", text, micros);
}

Result<Timestamp> parse_rfc3339(std::string_view text) {
  const std::string_view whole = text;
  const auto invalid = [&] {
    return fail(ErrorCode::InvalidValue, "'{}' is not an RFC 3339 time like 2026-11-15T03:00:00Z",
                whole.substr(0, 64));
  };
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  std::int64_t micros = 0;
  std::int64_t offset = 0;
  const bool shaped =
      take_number(text, 4, year) && take_char(text, '-') && take_number(text, 2, month) &&
      take_char(text, '-') && take_number(text, 2, day) &&
      (take_char(text, 'T') || take_char(text, 't') || take_char(text, ' ')) &&
      take_number(text, 2, hour) && take_char(text, ':') && take_number(text, 2, minute) &&
      take_char(text, ':') && take_number(text, 2, second) &&
      (!take_char(text, '.') || take_fraction(text, micros)) && take_offset(text, offset) &&
      text.empty();
  if (!shaped || year < 1970 || month < 1 || month > 12 || day < 1 ||
      day > days_in_month(year, month) || hour > 23 || minute > 59 || second > 59) {
    return invalid();
  }
  const std::int64_t seconds = days_from_civil(year, month, day) * kDay +
                               std::int64_t{hour} * 3600 + std::int64_t{minute} * 60 + second -
                               offset;
  // An offset may lead out of the years that can be written again.
  if (seconds < 0 || seconds >= kYear10000) return invalid();
  return Timestamp{seconds * kSecond + micros};
}

std::string format_duration(Duration duration) {
  if (duration.us == 0) return "0s";
  std::string text = duration.us < 0 ? "-" : "";
  std::int64_t rest = duration.us < 0 ? -duration.us : duration.us;
  if (rest < kSecond) {
    return text + (rest % 1000 == 0 ? fmt::format("{}ms", rest / 1000) : fmt::format("{}us", rest));
  }
  if (const std::int64_t hours = rest / (3600 * kSecond); hours > 0) {
    text += fmt::format("{}h", hours);
    rest %= 3600 * kSecond;
  }
  if (const std::int64_t minutes = rest / (60 * kSecond); minutes > 0) {
    text += fmt::format("{}m", minutes);
    rest %= 60 * kSecond;
  }
  if (rest > 0) {
    text += fmt::format("{}", rest / kSecond);
    append_fraction(text, rest % kSecond);
    text += 's';
  }
  return text;
}

Result<Duration> parse_duration(std::string_view text) {
  const std::string_view whole = text;
  const auto invalid = [&] {
    return fail(ErrorCode::InvalidValue, "'{}' is not a duration like 90s, 1h30m or 250ms",
                whole.substr(0, 64));
  };
  constexpr std::int64_t kMax = Duration::days(36'500).us;
  if (text.empty()) return invalid();
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data() || number < 0) return invalid();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    std::int64_t millionths = 0;
    if (take_char(text, '.') && !take_fraction(text, millionths)) return invalid();
    std::int64_t unit = kSecond;
    if (!text.empty()) {
      const Unit* found = nullptr;
      for (const Unit& candidate : kUnits) {
        if (text.starts_with(candidate.suffix)) {
          found = &candidate;
          break;
        }
      }
      if (found == nullptr) return invalid();
      unit = found->us;
      text.remove_prefix(found->suffix.size());
    }
    if (number > kMax / unit) return invalid();
    total += number * unit + millionths * (unit / 1000) / 1000;
    if (total > kMax) return invalid();
  }
  return Duration::micros(total);
}

std::string format_age(Duration duration) {
  const std::int64_t seconds = duration.us < 0 ? 0 : duration.us / kSecond;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) {
    const std::int64_t rest = seconds % 60;
    return rest == 0 || seconds >= 600 ? fmt::format("{}m", seconds / 60)
                                       : fmt::format("{}m{}s", seconds / 60, rest);
  }
  if (seconds < kDay) {
    const std::int64_t rest = seconds / 60 % 60;
    return rest == 0 ? fmt::format("{}h", seconds / 3600)
                     : fmt::format("{}h{}m", seconds / 3600, rest);
  }
  const std::int64_t rest = seconds / 3600 % 24;
  return rest == 0 || seconds >= 10 * kDay ? fmt::format("{}d", seconds / kDay)
                                           : fmt::format("{}d{}h", seconds / kDay, rest);
}

}  // namespace muster
