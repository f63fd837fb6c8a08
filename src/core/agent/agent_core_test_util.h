#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "core/agent/agent_core.h"

// A core with its journal in memory, and short ways to say and to see what happens to it.

namespace muster::core::agent {

inline constexpr Timestamp kStart{1'000'000'000'000};

inline ActionId id_of(std::uint64_t n) { return Uuid::v4(n, n); }

inline Schedule schedule(std::uint64_t n, std::uint32_t attempt = 1) {
  return {.id = id_of(n),
          .attempt = attempt,
          .name = fmt::format("action-{}", n),
          .kind = "exec",
          .inputs = R"({"argv":["true"]})",
          .timeout = Duration::seconds(100),
          .requested_by = "alice",
          .created_at = Timestamp{77}};
}

inline RunEnded ended(std::uint64_t n, ExecuteResult result = ExecuteResult::Ok,
                      std::uint32_t attempt = 1) {
  return {.id = id_of(n), .attempt = attempt, .result = result, .reason = "", .outputs = "{}"};
}

inline SignalFromController signal(std::uint64_t n, Signal what, std::uint32_t attempt = 1) {
  return {.id = id_of(n), .attempt = attempt, .signal = what, .reason = "because"};
}

inline std::vector<JournalEntryPtr> puts(const AgentEffects& effects) {
  std::vector<JournalEntryPtr> entries;
  for (const auto& write : effects.writes) {
    if (const auto* put = std::get_if<PutEntry>(&write)) entries.push_back(put->entry);
  }
  return entries;
}

inline std::vector<std::pair<ActionId, std::uint32_t>> drops(const AgentEffects& effects) {
  std::vector<std::pair<ActionId, std::uint32_t>> dropped;
  for (const auto& write : effects.writes) {
    if (const auto* drop = std::get_if<DropEntry>(&write)) {
      dropped.emplace_back(drop->id, drop->attempt);
    }
  }
  return dropped;
}

inline std::vector<AgentAction> reports(const AgentEffects& effects) {
  std::vector<AgentAction> actions;
  for (const auto& message : effects.messages) {
    if (const auto* report = std::get_if<SendReport>(&message)) actions.push_back(report->action);
  }
  return actions;
}

inline std::vector<SendSyncPage> pages(const AgentEffects& effects) {
  std::vector<SendSyncPage> found;
  for (const auto& message : effects.messages) {
    if (const auto* page = std::get_if<SendSyncPage>(&message)) found.push_back(*page);
  }
  return found;
}

inline std::vector<ActionId> started(const AgentEffects& effects) {
  std::vector<ActionId> ids;
  for (const auto& run : effects.runs) {
    if (const auto* start = std::get_if<StartRun>(&run)) ids.push_back(start->entry->id);
  }
  return ids;
}

inline std::vector<Signal> signalled(const AgentEffects& effects) {
  std::vector<Signal> signals;
  for (const auto& run : effects.runs) {
    if (const auto* one = std::get_if<SignalRun>(&run)) signals.push_back(one->signal);
  }
  return signals;
}

inline bool empty(const AgentEffects& effects) {
  return effects.writes.empty() && effects.messages.empty() && effects.runs.empty() &&
         effects.replies.empty();
}

class AgentCoreTest : public ::testing::Test {
 protected:
  explicit AgentCoreTest(AgentCoreOptions options = {.kinds = {"exec", "facts"}})
      : options_(std::move(options)), core_(std::make_unique<AgentCore>(options_)) {}

  AgentEffects step(const AgentInput& input) {
    auto effects = core_->step(now_, input);
    commit(effects);
    return effects;
  }

  // The next life of the agent, from what its journal has.
  AgentEffects restart() {
    core_ = std::make_unique<AgentCore>(options_);
    for (const auto& [id, entry] : journal_) core_->restore(entry);
    auto effects = core_->recover(now_);
    commit(effects);
    return effects;
  }

  // Time passes, with a tick whenever one is due.
  AgentEffects pass(Duration time) {
    const Timestamp end = now_ + time;
    AgentEffects all;
    const auto tick = [&] {
      auto effects = step(AgentTick{});
      std::ranges::move(effects.writes, std::back_inserter(all.writes));
      std::ranges::move(effects.messages, std::back_inserter(all.messages));
      std::ranges::move(effects.runs, std::back_inserter(all.runs));
    };
    for (auto due = core_->next_deadline(); due && *due < end; due = core_->next_deadline()) {
      now_ = *due;
      tick();
    }
    now_ = end;
    tick();
    return all;
  }

  void commit(const AgentEffects& effects) {
    for (const auto& write : effects.writes) {
      if (const auto* put = std::get_if<PutEntry>(&write)) {
        journal_[put->entry->id] = put->entry;
      } else {
        journal_.erase(std::get<DropEntry>(write).id);
      }
    }
  }

  // A final entry that the controller has acknowledged.
  void finish_and_ack(std::uint64_t n) {
    step(schedule(n));
    step(ended(n));
    step(Ack{id_of(n), 1});
  }

  Status status(std::uint64_t n) const { return core_->find(id_of(n))->status; }

  AgentCoreOptions options_;
  std::unique_ptr<AgentCore> core_;
  std::map<ActionId, JournalEntryPtr> journal_;
  Timestamp now_ = kStart;
};

}  // namespace muster::core::agent
