#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/engine.h"

// Runs golden scripts against the engine: each command is one input, its transcript is every effect
// of it. A script is a text file of blocks,
//
//   command arguments
//   ----
//   transcript
//
// separated by empty lines. Time only passes by `advance`; ids are counted up, so that a transcript
// never changes by itself. Writes are kept like a store would, which answers lookups and lets
// `restart` rebuild the engine from what is durable. `lookups wait` keeps its answers back until
// `lookups answered`.

namespace muster::core::testing {

class EngineScript {
 public:
  EngineScript();

  // The transcript of one command.
  std::string run(const std::string& line);

  // Every change of status that was written so far.
  const std::set<std::pair<Status, Status>>& transitions() const { return transitions_; }

 private:
  using Words = std::vector<std::string>;
  using Args = std::map<std::string, std::string>;

  std::string step(Input input);
  std::string describe(const Effects& effects);
  std::string describe_put(const ActionPtr& action);
  std::string describe_send(const AgentSend& send) const;
  std::string answer_lookups(const Effects& effects);
  std::string answer(const LookupDone& done);
  std::string answer_late();
  std::string advance(Duration duration, bool heartbeats);
  std::string restart();
  std::string explain(const std::string& name);
  Input submit(const std::string& arguments);
  ActionRequest action_request(const std::string& text);
  AgentAction agent_action(const std::string& name, const Words& words, const Args& args);
  SessionId session(const std::string& agent) const { return sessions_.at(agent); }

  std::string name_of(const ActionId& id) const;
  ActionId id_of(const std::string& name) const;
  ActionPtr latest(const ActionId& id) const;

  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  Timestamp now_;
  std::uint64_t last_id_ = 0;
  SessionId last_session_ = 0;
  RequestId last_request_ = 0;
  std::map<std::string, SessionId> sessions_;
  std::map<std::string, std::string> journals_;
  // What is durable.
  std::map<ActionId, ActionPtr> actions_;
  std::map<AgentName, AgentPtr> agents_;
  std::map<std::string, PutIdempotency> keys_;
  std::uint64_t last_event_ = 0;
  std::set<std::pair<Status, Status>> transitions_;
  bool answers_wait_ = false;
  std::vector<LookupDone> late_;  // as the store was when it was asked
};

}  // namespace muster::core::testing
