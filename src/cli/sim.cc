#include "cli/sim.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/planted_bug.h"
#include "cli/interrupt.h"
#include "sim/exhaustive.h"
#include "sim/world.h"

namespace muster::cli {
namespace {

constexpr Duration kProgressEvery = Duration::seconds(2);

// Where the handler of SIGABRT finds what is being run: a broken invariant of the program itself
// ends it on the spot, and the seed must not be lost with it.
std::atomic<std::uint64_t> current_seed{0};

extern "C" void tell_seed(int) {
  char text[128];
  const int size = std::snprintf(text, sizeof text, "replay: muster sim --seed %llu --trace\n",
                                 static_cast<unsigned long long>(current_seed.load()));
  if (size > 0) (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(size));
}

// What all seeds together were.
struct SimTally {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  std::uint64_t steps = 0;
  std::uint64_t actions = 0;
  Duration simulated;
  sim::FaultTally faults;

  void add(const sim::Outcome& outcome) {
    ++seeds;
    if (outcome.violation) ++failed;
    steps += outcome.steps;
    actions += outcome.actions;
    simulated = simulated + outcome.simulated;
    faults.merge(outcome.faults);
  }
  double hours() const { return simulated.as_seconds() / 3600; }
};

Json to_json(const SimTally& tally, std::uint64_t first, double seconds) {
  Json faults = Json::object();
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    const auto fault = static_cast<sim::Fault>(i);
    faults[std::string(sim::name(fault))] = tally.faults.of(fault);
  }
  return {{"first_seed", first},         {"seeds", tally.seeds},
          {"failed", tally.failed},      {"simulated_hours", tally.hours()},
          {"actions", tally.actions},    {"steps", tally.steps},
          {"faults", std::move(faults)}, {"seconds", seconds}};
}

std::string to_text(const SimTally& tally, std::uint64_t first, double seconds) {
  std::string text = fmt::format(
      "{} seeds from {} in {:.1f} s ({:.1f}/s), {} failed\n{:.1f} simulated hours, {} actions, {} "
      "steps, {} faults\n",
      tally.seeds, first, seconds, static_cast<double>(tally.seeds) / std::max(seconds, 0.001),
      tally.failed, tally.hours(), tally.actions, tally.steps, tally.faults.total());
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    const auto fault = static_cast<sim::Fault>(i);
    if (tally.faults.of(fault) == 0) continue;
    text += fmt::format("  {:<38} {:>10}\n", sim::name(fault), tally.faults.of(fault));
  }
  return text;
}

Json to_json(const sim::Violation& violation) {
  return {{"promise", violation.promise}, {"what", violation.what}};
}

std::string bug_flag(Bug bug) {
  return bug == Bug::None ? std::string() : fmt::format(" --bug {}", name(bug));
}

std::string replay_of(std::uint64_t seed, Bug bug) {
  return fmt::format("muster sim --seed {} --trace{}", seed, bug_flag(bug));
}

void tell_failure(Context& context, const sim::Outcome& outcome, Bug bug) {
  context.console.warn(fmt::format("seed {}: promise {} is broken: {}\nreplay: {}\n", outcome.seed,
                                   outcome.violation->promise, outcome.violation->what,
                                   replay_of(outcome.seed, bug)));
}

Outcome<Bug> chosen_bug(const SimOptions& options) {
  if (options.bug.empty()) return Bug::None;
  if (!kBugsCanBePlanted) {
    return usage("--bug needs a build with MUSTER_PLANT_BUGS; this one cannot plant bugs");
  }
  const auto bug = parse_bug(options.bug);
  if (!bug) return usage("--bug '{}' is not one of src/base/planted_bug.h", options.bug);
  return *bug;
}

void print_trace_line(Context& context, std::string_view line) {
  context.console.out(std::string(line) + "\n");
}

Outcome<ExitCode> run_one(Context& context, const SimOptions& options, Bug bug) {
  current_seed = options.seed;
  sim::SeedOptions seed{.seed = options.seed, .bug = bug, .sink = {}};
  if (options.trace) {
    seed.sink = [&context](std::string_view line) { print_trace_line(context, line); };
  }
  const sim::Outcome outcome = sim::run_seed(seed);
  if (context.options.format == Format::Json) {
    Json json{{"seed", outcome.seed},
              {"digest", fmt::format("{:016x}", outcome.digest)},
              {"simulated_seconds", outcome.simulated.as_seconds()},
              {"actions", outcome.actions},
              {"steps", outcome.steps},
              {"faults", outcome.faults.total()},
              {"violation", nullptr}};
    if (outcome.violation) json["violation"] = to_json(*outcome.violation);
    context.console.out(dump_json(json) + "\n");
  } else {
    context.console.out(fmt::format(
        "seed {} {}: digest {:016x}, {} simulated, {} actions, {} steps, {} faults\n", outcome.seed,
        outcome.violation ? "FAILED" : "ok", outcome.digest, format_age(outcome.simulated),
        outcome.actions, outcome.steps, outcome.faults.total()));
  }
  if (!outcome.violation) return ExitCode::Ok;
  tell_failure(context, outcome, bug);
  return ExitCode::Error;
}

// The file is replaced as a whole, so that whoever reads it never sees half of it.
Outcome<void> keep_tally(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::FILE* file = std::fopen(fresh.c_str(), "w");
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed || std::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail(Failure(Error{ErrorCode::IoError,
                              fmt::format("cannot write '{}': {}", path, std::strerror(errno))}));
  }
  return {};
}

Outcome<ExitCode> run_many(Context& context, const SimOptions& options, Bug bug) {
  catch_interrupts();
  SimTally tally;
  const Timestamp began = context.environment.now();
  Timestamp told = began;
  const auto seconds = [&] { return (context.environment.now() - began).as_seconds(); };
  for (std::uint64_t i = 0; i < options.seeds && !context.environment.interrupted(); ++i) {
    current_seed = options.first + i;
    const sim::Outcome outcome = sim::run_seed({.seed = options.first + i, .bug = bug, .sink = {}});
    tally.add(outcome);
    if (outcome.violation) {
      tell_failure(context, outcome, bug);
      break;
    }
    const Timestamp now = context.environment.now();
    if (now - told >= kProgressEvery) {
      told = now;
      context.console.say(fmt::format("{} seeds, {:.1f} simulated hours, {} faults, {:.1f}/s\n",
                                      tally.seeds, tally.hours(), tally.faults.total(),
                                      static_cast<double>(tally.seeds) / seconds()));
      if (!options.tally.empty()) {
        const Json json = to_json(tally, options.first, seconds());
        MUSTER_TRY(keep_tally(options.tally, dump_json(json, 2) + "\n"));
      }
    }
    if (!options.time_max.is_zero() && now - began >= options.time_max) break;
  }
  const Json json = to_json(tally, options.first, seconds());
  if (!options.tally.empty()) MUSTER_TRY(keep_tally(options.tally, dump_json(json, 2) + "\n"));
  context.console.out(context.options.format == Format::Json
                          ? dump_json(json) + "\n"
                          : to_text(tally, options.first, seconds()));
  return tally.failed == 0 ? ExitCode::Ok : ExitCode::Error;
}

std::string replay_of(const sim::Course& course, Bug bug) {
  return fmt::format("muster sim --exhaustive --at {} --trace{}", to_text(course), bug_flag(bug));
}

Outcome<ExitCode> run_course(Context& context, const SimOptions& options, Bug bug) {
  const Result<sim::Course> course = sim::parse_course(options.at);
  if (!course) return usage("--at '{}': {}", options.at, course.error().message);
  std::function<void(std::string_view)> sink;
  if (options.trace) {
    sink = [&context](std::string_view line) { print_trace_line(context, line); };
  }
  const sim::CourseOutcome outcome = sim::run_course(*course, bug, sink);
  context.console.out(fmt::format("{} {}: {} steps\n", options.at,
                                  outcome.violation ? "FAILED" : "ok", outcome.steps));
  if (!outcome.violation) return ExitCode::Ok;
  context.console.warn(fmt::format("promise {} is broken: {}\n", outcome.violation->promise,
                                   outcome.violation->what));
  return ExitCode::Error;
}

Outcome<ExitCode> run_exhaustive(Context& context, const SimOptions& options, Bug bug) {
  if (!options.at.empty()) return run_course(context, options, bug);
  const auto tell = [&](std::string_view scenario, const sim::Trouble& trouble,
                        std::uint64_t points) {
    context.console.say(
        fmt::format("{:<10} {:<24} at {} points\n", scenario, sim::name(trouble), points));
  };
  const auto result = sim::run_exhaustive({.bug = bug, .pairs = options.pairs, .progress = tell});
  if (context.options.format == Format::Json) {
    Json json{{"runs", result.runs}, {"steps", result.steps}, {"violation", nullptr}};
    if (result.failure) {
      json["violation"] = to_json(result.failure->violation);
      json["replay"] = replay_of(result.failure->course, bug);
    }
    context.console.out(dump_json(json) + "\n");
  } else {
    context.console.out(fmt::format("{} runs, {} steps, {}\n", result.runs, result.steps,
                                    result.failure ? "FAILED" : "all promises kept"));
  }
  if (!result.failure) return ExitCode::Ok;
  context.console.warn(
      fmt::format("promise {} is broken: {}\nreplay: {}\n", result.failure->violation.promise,
                  result.failure->violation.what, replay_of(result.failure->course, bug)));
  return ExitCode::Error;
}

}  // namespace

Outcome<ExitCode> run_sim(Context& context, const SimOptions& options) {
  ignore_broken_pipes();
  std::signal(SIGABRT, tell_seed);
  const int modes =
      (options.seeds > 0 ? 1 : 0) + (options.one_seed ? 1 : 0) + (options.exhaustive ? 1 : 0);
  if (modes != 1) return usage("one of --seeds, --seed and --exhaustive is needed");
  if (options.trace && options.seeds > 0) return usage("--trace goes with --seed");
  if (options.trace && options.exhaustive && options.at.empty()) {
    return usage("--trace goes with --exhaustive --at");
  }
  if (!options.at.empty() && !options.exhaustive) return usage("--at goes with --exhaustive");
  if (options.pairs && (!options.exhaustive || !options.at.empty())) {
    return usage("--pairs goes with --exhaustive, without --at");
  }
  MUSTER_TRY_ASSIGN(const Bug bug, chosen_bug(options));
  if (options.exhaustive) return run_exhaustive(context, options, bug);
  if (options.one_seed) return run_one(context, options, bug);
  return run_many(context, options, bug);
}

}  // namespace muster::cli
