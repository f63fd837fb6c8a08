#include <string>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/samples.h"
#include "bench/stopwatch.h"
#include "core/engine.h"

namespace muster::bench {
namespace {

constexpr std::size_t kLookEvery = 10'000;  // actions

// Feeds an engine what a controller with busy agents would feed it: submit, queued, running, done.
class Feeder {
 public:
  explicit Feeder(std::size_t agents) : engine_(options()), agents_(agents) {
    take(engine_.start(now_));
    for (std::size_t i = 0; i < agents_; ++i) connect(i);
  }

  void run_action(std::size_t number) {
    const std::size_t agent = number % agents_;
    core::Submit submit;
    submit.request = ++requests_;
    submit.who = "bench";
    core::ActionRequest action;
    action.kind = "noop";
    action.target = agent_name(agent);
    submit.actions.push_back(std::move(action));
    const core::ActionId id = Uuid::v4(number * 0x9E3779B97F4A7C15U, number);
    submit.fresh_ids = {id};
    step(std::move(submit));
    report(agent, id, core::Status::New);
    report(agent, id, core::Status::Running);
    report(agent, id, core::Status::Succeeded);
  }

  std::uint64_t steps() const { return steps_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t ended() const { return ended_; }

 private:
  static core::EngineOptions options() {
    core::EngineOptions result;
    result.instance_id = "bench";
    return result;
  }
  static std::string agent_name(std::size_t index) { return fmt::format("bench-{}", index + 1); }

  void connect(std::size_t index) {
    core::AgentConnected connected;
    connected.session = index + 1;
    connected.identity.name = agent_name(index);
    connected.identity.journal_id = fmt::format("journal-{}", index);
    connected.identity.instance_id = fmt::format("instance-{}", index);
    connected.identity.kinds = {"noop"};
    step(std::move(connected));
    core::AgentSyncPage page;
    page.session = index + 1;
    page.last = true;
    step(std::move(page));
  }

  void report(std::size_t agent, const core::ActionId& id, core::Status status) {
    core::AgentReport report;
    report.session = agent + 1;
    report.action.id = id;
    report.action.status = status;
    if (status != core::Status::New) report.action.start_time = now_;
    if (core::is_final(status)) {
      report.action.stop_time = now_;
      report.action.outputs = R"({"duration_ms":0})";
    }
    step(std::move(report));
  }

  void step(core::Input input) {
    now_ = now_ + Duration::micros(1);
    ++steps_;
    take(engine_.step(now_, input));
  }

  void take(const core::Effects& effects) {
    writes_ += effects.writes.size();
    for (const core::Write& write : effects.writes) {
      const auto* put = std::get_if<core::PutAction>(&write);
      if (put != nullptr && put->action->status == core::Status::Succeeded) ++ended_;
    }
  }

  core::Engine engine_;
  const std::size_t agents_;
  Timestamp now_{1'000'000'000'000'000};
  core::RequestId requests_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace

Result<Json> run_core(const CoreOptions& options, const Host& host) {
  Feeder feeder(options.agents);
  const std::uint64_t before = feeder.steps();
  const Stopwatch watch;
  for (std::size_t i = 0; i < options.count; ++i) {
    if (i % kLookEvery == 0 && host.interrupted()) return fail(interrupted_error());
    feeder.run_action(i + 1);
  }
  const double seconds = watch.seconds();
  if (feeder.ended() != options.count) {
    return fail(ErrorCode::Internal, "{} of {} actions ended", feeder.ended(), options.count);
  }
  const std::uint64_t steps = feeder.steps() - before;
  return Json{{"bench", "core"},
              {"count", steps},
              {"actions", options.count},
              {"agents", options.agents},
              {"writes", feeder.writes()},
              {"seconds", rounded(seconds, 3)},
              {"rate_per_s", rounded(static_cast<double>(steps) / seconds, 1)},
              {"actions_per_s", rounded(static_cast<double>(options.count) / seconds, 1)}};
}

}  // namespace muster::bench
