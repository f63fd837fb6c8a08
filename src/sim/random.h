#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace muster::sim {

// Mixes a number so that near inputs give far outputs (splitmix64).
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// The only source of chance in a simulation: xoshiro256**. The same seed gives the same numbers on
// every machine, which the distributions of the standard library do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = seed = mix(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // 0 to n-1. REQUIRES: n > 0
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(below(size)); }
  // From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  Duration between(Duration low, Duration high) { return {between(low.us, high.us)}; }
  // True in `parts` of a million cases.
  bool chance(std::uint32_t parts) { return below(1'000'000) < parts; }
  bool coin() { return (next() & 1) != 0; }

  // Another stream that starts here, so that one consumer does not shift the numbers of another.
  Random fork() { return Random(next()); }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t value, int by) {
    return (value << by) | (value >> (64 - by));
  }

  std::array<std::uint64_t, 4> state_{};
};

// A digest over everything that can be observed of a run. Two runs of a seed must agree.
class Digest {
 public:
  void add(std::uint64_t value) { state_ = mix(state_ ^ value); }
  void add(std::string_view bytes) {
    add(bytes.size());
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char byte : bytes) {
      hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3ULL;
    }
    add(hash);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace muster::sim
