#pragma once

#include <cstdint>
#include <string>

#include "cli/context.h"

// `muster sim`: runs the simulator and tells what it found.

namespace muster::cli {

struct SimOptions {
  std::uint64_t seeds = 0;  // how many; 0: one seed, or exhaustive
  std::uint64_t first = 1;
  std::uint64_t seed = 0;
  bool one_seed = false;
  bool trace = false;
  bool exhaustive = false;
  bool pairs = false;  // also two troubles at once
  std::string at;      // SCENARIO:TROUBLE:POINT,..., one run of the exhaustive mode
  std::string bug;     // in a build that can plant bugs
  Duration time_max;   // zero: no limit
  std::string tally;   // a file that is kept up to date; empty: none
};

Outcome<ExitCode> run_sim(Context& context, const SimOptions& options);

}  // namespace muster::cli
