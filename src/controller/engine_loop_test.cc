#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

#include "controller/controller.h"
#include "controller/job_pool.h"
#include "os/clock.h"
#include "os/random.h"
#include "store/memory_store.h"
#include "store/record_codec.h"

namespace muster::controller {
namespace {

using std::chrono::steady_clock;
using std::chrono_literals::operator""s;
using store::CommitFault;
using ::testing::HasSubstr;

// Records what leaves, and checks that whatever leaves is durable.
class RecordingOutlets final : public Outlets {
 public:
  explicit RecordingOutlets(store::Store& store) : store_(store) {}

  void send_to_agent(const core::AgentSend&) override {}
  void run_job(const core::Job& job) override {
    if (const auto* start = std::get_if<core::StartJob>(&job)) {
      expect_durable(*start->action);
    }
    if (pool != nullptr) pool->run(job);
  }
  void publish(const core::Event& event) override {
    const auto page = store_.events(event.seq - 1, 1);
    EXPECT_TRUE(page && page->events.size() == 1) << "event " << event.seq << " left early";
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(event.seq, last_event_ + 1);
    last_event_ = event.seq;
    ++unflushed_;
    changed_.notify_all();
  }
  void flush() override {
    const std::lock_guard lock(mutex_);
    unflushed_ = 0;
  }
  std::size_t unflushed() {
    const std::lock_guard lock(mutex_);
    return unflushed_;
  }

  void ask_model(const core::AskModel&) override {}
  void measured(const core::Measurement& measurement) override {
    const std::lock_guard lock(mutex_);
    measured_.insert(measurement.what);
    changed_.notify_all();
  }
  void commit_took(Duration) override {
    const std::lock_guard lock(mutex_);
    commit_measured_ = true;
    changed_.notify_all();
  }

  void expect_durable(const core::Action& action) {
    const auto record = store_.get(store::Space::Action, action.id().bytes());
    ASSERT_TRUE(record && *record);
    const auto stored = store::decode_action(**record);
    ASSERT_TRUE(stored);
    EXPECT_GE((*stored)->revision, action.revision);
  }
  bool wait_for_events(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return last_event_ >= count; });
  }

  // A wait, an execution and a commit.
  bool wait_for_measurements() {
    using What = core::Measurement::What;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] {
      return commit_measured_ && measured_.contains(What::Wait) &&
             measured_.contains(What::Execution);
    });
  }

  JobPool* pool = nullptr;

 private:
  store::Store& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_event_ = 0;
  std::size_t unflushed_ = 0;  // events published since the last flush
  std::set<core::Measurement::What> measured_;
  bool commit_measured_ = false;
};

class EngineLoopTest : public ::testing::Test {
 protected:
  EngineLoopTest() : outlets_(store_) { start(); }
  ~EngineLoopTest() override { stop(); }

  void start() {
    ControllerOptions options;
    options.engine.instance_id = "test";
    options.random = os::system_random;
    options.clock = os::system_now;
    // Jobs may end before the controller that started them has been returned.
    std::promise<Controller*> promise;
    pool_ =
        std::make_unique<JobPool>(2, [started = promise.get_future().share()](core::Input input) {
          started.get()->post(std::move(input));
        });
    outlets_.pool = pool_.get();
    controller_ = *Controller::start(std::move(options), store_, *store_.acquire_term(), outlets_);
    promise.set_value(controller_.get());
  }
  void stop() {
    if (!controller_) return;
    pool_->stop();
    controller_->stop();
    controller_.reset();
  }

  static core::Submit submit(std::string kind, std::string inputs = "{}") {
    core::Submit submit;
    submit.who = "alice";
    core::ActionRequest request;
    request.kind = std::move(kind);
    request.inputs = std::move(inputs);
    submit.actions.push_back(std::move(request));
    return submit;
  }

  core::Reply ask(Controller::Request request) {
    auto promise = std::make_shared<std::promise<core::Reply>>();
    auto future = promise->get_future();
    controller_->request(std::move(request),
                         [promise](const core::Reply& reply) { promise->set_value(reply); });
    if (future.wait_for(10s) != std::future_status::ready) {
      return {0, Error{ErrorCode::Timeout, "no reply"}};
    }
    return future.get();
  }

  static const Error* error_of(const core::Reply& reply) { return std::get_if<Error>(&reply.body); }
  static core::ActionPtr action_of(const core::Reply& reply) {
    return std::get<core::SubmitReply>(reply.body).actions.front();
  }

  // Waits until the action is final in the store.
  core::ActionPtr wait_final(const core::ActionId& id) {
    const auto deadline = steady_clock::now() + 10s;
    while (steady_clock::now() < deadline) {
      const auto action = *store::decode_action(**store_.get(store::Space::Action, id.bytes()));
      if (action->is_final()) return action;
      std::this_thread::yield();
    }
    return nullptr;
  }

  store::MemoryStore store_;
  RecordingOutlets outlets_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<JobPool> pool_;
};

TEST_F(EngineLoopTest, AnswersAfterTheCommitAndRunsTheJob) {
  const core::Reply reply = ask(submit("noop"));
  ASSERT_EQ(error_of(reply), nullptr);
  outlets_.expect_durable(*action_of(reply));
  const auto ended = wait_final(action_of(reply)->id());
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->status, core::Status::Succeeded);
}

TEST_F(EngineLoopTest, AnswersAfterEverythingElseHasLeft) {
  std::promise<std::size_t> unflushed;
  controller_->request(submit("sleep", R"({"duration":3600})"),
                       [&](const core::Reply&) { unflushed.set_value(outlets_.unflushed()); });
  auto future = unflushed.get_future();
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(future.get(), 0U);
}

TEST_F(EngineLoopTest, ManyThreadsGetTheirOwnAnswers) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 25; ++i) EXPECT_EQ(error_of(ask(submit("noop"))), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(outlets_.wait_for_events(300));  // created, running, succeeded for each of 100
}

TEST_F(EngineLoopTest, RefusesWorkWhileTheStoreRefusesAndLosesNothing) {
  std::mutex mutex;
  bool full = true;
  store_.set_fault_hook([&](const store::Batch&) {
    const std::lock_guard lock(mutex);
    return full ? CommitFault::Refuse : CommitFault::None;
  });
  const core::Reply undecided = ask(submit("noop"));
  ASSERT_NE(error_of(undecided), nullptr);
  EXPECT_EQ(error_of(undecided)->code, ErrorCode::StoreUnavailable);
  EXPECT_THAT(error_of(undecided)->message, HasSubstr("Idempotency-Key"));
  EXPECT_FALSE(controller_->health().store_ok);
  const core::Reply refused = ask(submit("noop"));
  ASSERT_NE(error_of(refused), nullptr);
  EXPECT_EQ(error_of(refused)->code, ErrorCode::StoreUnavailable);
  {
    const std::lock_guard lock(mutex);
    full = false;
  }
  // The first one was computed and is made durable now; the second was never taken.
  EXPECT_TRUE(outlets_.wait_for_events(3));
  EXPECT_EQ(error_of(ask(submit("noop"))), nullptr);
  EXPECT_TRUE(controller_->health().store_ok);
  EXPECT_EQ(store_.query_actions({})->size(), 2u);
}

TEST_F(EngineLoopTest, AFencedControllerSaysSoAndStops) {
  std::promise<Error> fatal;
  controller_->on_fatal([&](const Error& error) { fatal.set_value(error); });
  ASSERT_TRUE(store_.acquire_term());
  controller_->request(submit("noop"), [](const core::Reply&) {});
  auto future = fatal.get_future();
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(future.get().code, ErrorCode::Fenced);
  EXPECT_EQ(store_.query_actions({})->size(), 0u);
}

TEST_F(EngineLoopTest, LoadsWhatItLeftAndSetsAsideWhatItCannotRead) {
  const core::Reply slept = ask(submit("sleep", R"({"duration":3600})"));
  ASSERT_EQ(error_of(slept), nullptr);
  const core::ActionId id = action_of(slept)->id();
  stop();
  store::Batch batch;
  batch.term = *store_.acquire_term();
  store::ActionIndex index;
  index.seq = 1000;
  batch.records.push_back({store::Space::Action, std::string(16, 'x'), "not a record", index});
  ASSERT_TRUE(store_.commit(batch));
  start();
  EXPECT_EQ(store_.stats()->quarantined, 1u);
  core::SignalRequest cancel;
  cancel.who = "bob";
  cancel.id = id;
  cancel.signal = core::Signal::Cancel;
  EXPECT_EQ(error_of(ask(cancel)), nullptr);
  const auto ended = wait_final(id);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->status, core::Status::Cancelled);
}

TEST_F(EngineLoopTest, NumbersOnAfterANewestRecordThatCannotBeRead) {
  stop();
  store::Batch batch;
  batch.term = *store_.acquire_term();
  store::ActionIndex index;
  index.seq = 1000;
  index.live = false;
  batch.records.push_back({store::Space::Action, std::string(16, 'x'), "not a record", index});
  ASSERT_TRUE(store_.commit(batch));
  start();
  const core::Reply reply = ask(submit("noop"));
  ASSERT_EQ(error_of(reply), nullptr);
  EXPECT_EQ(action_of(reply)->spec->seq, 1001u);
}

TEST_F(EngineLoopTest, LooksUpByTheFirstDigitsOfAnId) {
  const core::ActionId id = action_of(ask(submit("noop")))->id();
  ASSERT_NE(wait_final(id), nullptr);
  core::Submit second = submit("noop");
  second.actions.front().depends_on = {id.short_id()};
  const core::Reply reply = ask(second);
  ASSERT_EQ(error_of(reply), nullptr) << error_of(reply)->message;
  EXPECT_EQ(action_of(reply)->spec->depends_on, std::vector<core::ActionId>{id});
}

TEST_F(EngineLoopTest, TellsHowLongThingsTook) {
  ASSERT_NE(wait_final(action_of(ask(submit("noop")))->id()), nullptr);
  EXPECT_TRUE(outlets_.wait_for_measurements());
}

TEST_F(EngineLoopTest, ASuspendedJobWaitsAndGoesOn) {
  const core::Reply slept = ask(submit("sleep", R"({"duration":"1s"})"));
  const core::ActionId id = action_of(slept)->id();
  const auto signal = [&](core::Signal which) {
    core::SignalRequest request;
    request.id = id;
    request.signal = which;
    return ask(request);
  };
  ASSERT_EQ(error_of(signal(core::Signal::Suspend)), nullptr);
  const auto suspended = [&] {
    std::promise<bool> promise;
    auto future = promise.get_future();
    controller_->query([&](const core::Engine& engine, Timestamp) {
      const auto action = engine.find_action(id);
      promise.set_value(action && action->status == core::Status::Suspended);
    });
    return future.get();
  };
  const auto deadline = steady_clock::now() + 10s;
  while (!suspended() && steady_clock::now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(suspended());
  ASSERT_EQ(error_of(signal(core::Signal::Resume)), nullptr);
  const auto ended = wait_final(id);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->status, core::Status::Succeeded);
}

TEST_F(EngineLoopTest, LooksUpWhatHasEnded) {
  const core::Reply first = ask(submit("noop"));
  ASSERT_NE(wait_final(action_of(first)->id()), nullptr);
  core::Submit second = submit("noop");
  second.actions.front().depends_on = {action_of(first)->id().to_string()};
  EXPECT_EQ(error_of(ask(second)), nullptr);
  core::Submit third = submit("noop");
  third.actions.front().depends_on = {"nobody"};
  const core::Reply refused = ask(third);
  ASSERT_NE(error_of(refused), nullptr);
  EXPECT_EQ(error_of(refused)->code, ErrorCode::UnknownDependency);
}

}  // namespace
}  // namespace muster::controller
