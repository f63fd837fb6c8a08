#include "sim/behaviour.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/random.h"

namespace muster::sim {
namespace {

// The number after `key` in the inputs; 0 if it is not there.
std::uint64_t number_at(std::string_view inputs, std::string_view key) {
  const auto at = inputs.find(key);
  if (at == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  const char* begin = inputs.data() + at + key.size();
  std::from_chars(begin, inputs.data() + inputs.size(), value);
  return value;
}

}  // namespace

std::string make_inputs(const BehaviourRange& range, std::uint64_t salt) {
  return fmt::format(
      R"({{"number":{},"salt":{},"takes_us":{},"fails":{},"retries":{},"stubborn":{}}})",
      range.number, salt, range.takes_max.us, range.fails ? 1 : 0, range.asks_for_retry ? 1 : 0,
      range.stubborn ? 1 : 0);
}

Behaviour behaviour_of(std::string_view inputs, std::uint32_t attempt) {
  const std::uint64_t salt = number_at(inputs, "\"salt\":");
  const auto takes_max = static_cast<std::int64_t>(number_at(inputs, "\"takes_us\":"));
  if (salt == 0) return {};
  Random random(mix(salt) + attempt);
  Behaviour behaviour;
  behaviour.takes = random.between(Duration::micros(100), Duration::micros(takes_max + 1000));
  behaviour.ends_after = random.between(Duration::millis(1), Duration::seconds(2));
  if (number_at(inputs, "\"fails\":") != 0 && random.chance(500'000)) {
    behaviour.result = core::ExecuteResult::Error;
  } else if (number_at(inputs, "\"retries\":") != 0 && random.chance(600'000)) {
    behaviour.result = core::ExecuteResult::Retry;
  }
  if (number_at(inputs, "\"stubborn\":") != 0) {
    behaviour.ends_after = random.between(Duration::seconds(1), Duration::seconds(60));
    if (random.chance(200'000)) behaviour.takes = behaviour.takes + Duration::minutes(5);
  }
  return behaviour;
}

}  // namespace muster::sim
