#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/planted_bug.h"
#include "sim/checks.h"

// Small scenarios, in which nothing goes wrong but one thing: a process dies at one point. Every
// point is tried: before and after every write of the store and of a journal, and before every
// message, with the controller and with the agent as the one that dies.

namespace muster::sim {

enum class Victim : std::uint8_t { Controller, Agent, Host };
std::string_view name(Victim victim);  // "controller"

struct Scenario {
  std::string_view name;
  std::string_view about;
};
std::vector<Scenario> scenarios();

struct CrashAt {
  std::string scenario;
  Victim victim = Victim::Controller;
  std::uint64_t point = 0;  // from 1; 0: nobody dies
};

struct ExhaustiveFailure {
  CrashAt at;
  Violation violation;
};

struct ExhaustiveResult {
  std::uint64_t points = 0;  // that were tried, each in a run of its own
  std::uint64_t steps = 0;
  std::optional<ExhaustiveFailure> failure;  // the first
};

struct ExhaustiveOptions {
  Bug bug = Bug::None;
  // Told after each scenario and victim how many points it had.
  std::function<void(std::string_view scenario, Victim victim, std::uint64_t points)> progress;
};

// All scenarios, all victims, all points, until one fails.
ExhaustiveResult run_exhaustive(const ExhaustiveOptions& options);

// One run. Answers the violation, if any, and how many points were passed.
struct CrashOutcome {
  std::optional<Violation> violation;
  std::uint64_t points = 0;
  std::uint64_t steps = 0;
};
CrashOutcome run_scenario(const CrashAt& at, Bug bug,
                          const std::function<void(std::string_view)>& sink);

}  // namespace muster::sim
