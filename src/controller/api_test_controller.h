#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "controller/controller.h"
#include "store/record_codec.h"

namespace muster::controller::testing {

// Steps the engine on the caller's thread; what it writes is committed before anything leaves.
class TestController final : public Controller {
 public:
  explicit TestController(store::Store& store) : store_(store), engine_(options()) {
    const Result<store::Term> term = store_.acquire_term();
    if (!term) throw std::runtime_error(term.error().message);
    term_ = *term;
    perform(engine_.start(now_));
  }

  void request(Request request, ReplyCallback callback) override {
    const std::lock_guard lock(mutex_);
    const core::RequestId id = next_request_++;
    callbacks_[id] = std::move(callback);
    std::visit([&](auto& input) { input.request = id; }, request);
    if (auto* submit = std::get_if<core::Submit>(&request)) {
      for (std::size_t i = 0; i < submit->actions.size(); ++i) {
        ++random_;
        submit->fresh_ids.push_back(Uuid::v4(random_ * 0x9e3779b97f4a7c15ULL, random_));
      }
    }
    std::visit([&](auto& input) { step(std::move(input)); }, request);
  }
  void post(core::Input input) override {
    const std::lock_guard lock(mutex_);
    step(std::move(input));
  }
  void query(std::function<void(const core::Engine&, Timestamp)> read) override {
    const std::lock_guard lock(mutex_);
    if (silent_) {
      unanswered_.push_back(std::move(read));
    } else {
      read(engine_, now_);
    }
  }
  ControllerHealth health() const override {
    const std::lock_guard lock(mutex_);
    return health_;
  }
  store::Store& store() override { return store_; }
  void stop() override {}
  void on_fatal(std::function<void(Error)>) override {}

  // An agent that has connected and told an empty view.
  void connect_agent(const std::string& name, core::SessionId session,
                     std::vector<std::string> kinds = {"exec", "noop", "sleep", "fail"}) {
    core::AgentIdentity identity;
    identity.name = name;
    identity.journal_id = "journal-" + name;
    identity.instance_id = "instance-" + name;
    identity.kinds = std::move(kinds);
    identity.labels = {{"role", "db"}};
    post(core::AgentConnected{session, identity});
    post(core::AgentSyncPage{session, 0, {}, true});
  }

  Timestamp now() const { return now_; }
  void set_silent(bool silent) {
    const std::lock_guard lock(mutex_);
    silent_ = silent;
  }
  void set_health(ControllerHealth health) {
    const std::lock_guard lock(mutex_);
    health_ = std::move(health);
  }
  std::function<void(const core::Event&)> on_event = [](const core::Event&) {};
  std::function<void(const core::Measurement&)> on_measured = [](const core::Measurement&) {};

 private:
  static core::EngineOptions options() {
    core::EngineOptions options;
    options.instance_id = "test-instance";
    return options;
  }

  void step(core::Input input) {
    now_ = now_ + Duration::millis(1);
    perform(engine_.step(now_, input));
  }

  void perform(const core::Effects& effects) {
    store::Batch batch;
    batch.term = term_;
    for (const core::Write& write : effects.writes) store::append(batch, write);
    if (!batch.empty()) {
      const Result<void> committed = store_.commit(batch);
      if (!committed) throw std::runtime_error(committed.error().message);
    }
    for (const core::Write& write : effects.writes) {
      if (const auto* appended = std::get_if<core::AppendEvent>(&write)) on_event(appended->event);
    }
    for (const core::Measurement& measurement : effects.measurements) on_measured(measurement);
    for (const core::Reply& reply : effects.replies) {
      const auto found = callbacks_.find(reply.request);
      if (found == callbacks_.end()) continue;
      const ReplyCallback callback = std::move(found->second);
      callbacks_.erase(found);
      callback(reply);
    }
    for (const core::Lookup& lookup : effects.lookups) {
      core::LookupDone done{lookup.lookup, {}};
      for (const core::ActionId& id : lookup.ids) {
        const auto value = store_.get(store::Space::Action, id.bytes());
        if (value && *value) done.found.push_back(*store::decode_action(**value));
      }
      for (const std::string& name : lookup.names) {
        const auto records = store_.find_actions_by_name(name, 2);
        for (const store::Record& record : *records) {
          done.found.push_back(*store::decode_action(record.value));
        }
      }
      for (const std::string& prefix : lookup.prefixes) {
        const auto records = store_.find_actions_by_prefix(prefix, 6);
        for (const store::Record& record : *records) {
          done.found.push_back(*store::decode_action(record.value));
        }
      }
      step(std::move(done));
    }
  }

  mutable std::recursive_mutex mutex_;
  store::Store& store_;
  store::Term term_ = 0;
  core::Engine engine_;
  Timestamp now_{Duration::days(20'000).us};
  core::RequestId next_request_ = 1;
  std::uint64_t random_ = 0;
  std::map<core::RequestId, ReplyCallback> callbacks_;
  ControllerHealth health_;
  bool silent_ = false;
  std::vector<std::function<void(const core::Engine&, Timestamp)>> unanswered_;
};

}  // namespace muster::controller::testing
