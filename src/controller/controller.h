#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/effects.h"
#include "core/engine.h"
#include "core/input.h"
#include "store/store.h"

// The shell around the engine: one thread that owns the core::Engine, takes inputs from a bounded
// queue, steps, hands the writes to the committer, and lets replies, messages, jobs and events out
// once they are durable.

namespace muster::controller {

// The engine's outlets. Called on the controller's thread after the commit that they depend on;
// must not block.
class Outlets {
 public:
  virtual ~Outlets() = default;
  virtual void send_to_agent(const core::AgentSend& send) = 0;
  virtual void run_job(const core::Job& job) = 0;
  virtual void publish(const core::Event& event) = 0;
  // Must be answered with core::ModelAnswered, whatever happens.
  virtual void ask_model(const core::AskModel& ask) = 0;
  // After the last call of several: what was gathered so that it travels together leaves now.
  virtual void flush() {}
  // For figures.
  virtual void measured(const core::Measurement&) {}
  virtual void commit_took(Duration) {}  // on the thread that has committed
};

struct ControllerOptions {
  core::EngineOptions engine;
  store::Retention retention;
  std::size_t inbox_max = 100'000;  // inputs; API requests beyond half of it are refused
  std::function<std::uint64_t()> random;
  std::function<Timestamp()> clock;
};

struct ControllerHealth {
  bool store_ok = true;
  std::string store_problem;  // why not
  Timestamp store_problem_since;
  std::size_t inbox = 0;        // inputs waiting
  std::size_t uncommitted = 0;  // steps whose writes are not durable yet
  std::uint64_t commits = 0;
  std::uint64_t steps = 0;
};

class Controller {
 public:
  using Request =
      std::variant<core::Submit, core::SignalRequest, core::DecideRequest, core::RefreshRequest,
                   core::EditModel, core::KeepPlan, core::RemovePlan>;
  using ReplyCallback = std::function<void(const core::Reply&)>;

  // Loads the store, quarantining what cannot be decoded, and starts. `store` must have been
  // acquired under `term`; all references must outlive the controller.
  static Result<std::unique_ptr<Controller>> start(ControllerOptions options, store::Store& store,
                                                   store::Term term, Outlets& outlets);
  virtual ~Controller() = default;

  // Any thread. The callback comes once, on the controller's thread, after everything that the
  // answer tells is durable; it must not block. Refused at once (Overloaded, StoreUnavailable) when
  // the inbox is full or the store refuses writes. `request` ids and fresh ids are filled in here.
  virtual void request(Request request, ReplyCallback callback) = 0;

  // Agents, jobs: everything that is not a request. Any thread; blocks while the inbox is full.
  virtual void post(core::Input input) = 0;
  // Inputs that came together; they are seen in one group where there is room.
  virtual void post_all(std::vector<core::Input> inputs) {
    for (core::Input& input : inputs) post(std::move(input));
  }

  // Runs `read` on the controller's thread after everything before it is durable. Any thread.
  virtual void query(std::function<void(const core::Engine&, Timestamp now)> read) = 0;

  virtual ControllerHealth health() const = 0;  // any thread
  virtual store::Store& store() = 0;
  virtual void stop() = 0;  // commits what is pending, then joins
  // Called (any thread) when the controller cannot go on: it was fenced.
  virtual void on_fatal(std::function<void(Error)> callback) = 0;
};

}  // namespace muster::controller
