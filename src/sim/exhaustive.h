#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/planted_bug.h"
#include "sim/checks.h"
#include "sim/course.h"

// Small scenarios, in which nothing goes wrong but one thing, or two, tried at every point:
//  - a process dies, before or after a write of the store or of a journal, or before a message;
//  - one fault happens to a write, a message or a request: it is refused, lost, late, doubled, or
//  it
//    is said to have failed and has not.

namespace muster::sim {

// How many points of each kind a run has passed before it healed.
struct PointsPassed {
  std::uint64_t crash = 0;
  std::array<std::uint64_t, kFaults> of_fault{};

  std::uint64_t of(const Trouble& trouble) const;
};

// One run.
struct CourseOutcome {
  std::optional<Violation> violation;
  PointsPassed points;
  std::uint64_t steps = 0;
};
CourseOutcome run_course(const Course& course, Bug bug,
                         const std::function<void(std::string_view)>& sink);

struct ExhaustiveFailure {
  Course course;
  Violation violation;
};

struct ExhaustiveResult {
  std::uint64_t runs = 0;
  std::uint64_t steps = 0;
  std::optional<ExhaustiveFailure> failure;  // the first
};

struct ExhaustiveOptions {
  Bug bug = Bug::None;
  bool pairs = false;  // also every two troubles together
  // Told of each scenario and trouble how many points it had, once all of them were tried, with
  // pairs each with every second trouble. Empty: not told.
  std::function<void(std::string_view scenario, const Trouble& trouble, std::uint64_t points)>
      progress;
};

// All scenarios, all troubles, all points, until one fails.
ExhaustiveResult run_exhaustive(const ExhaustiveOptions& options);

}  // namespace muster::sim
