#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Known bugs that a test build can put back, to prove that the simulator finds them. A bug is
// chosen through the options of the part that it is in; where a build does not define
// MUSTER_PLANT_BUGS (the binary that ships does not), planted() is the constant false and the
// compiler drops the bug.

namespace muster {

enum class Bug : std::uint8_t {
  None,
  SendBeforeCommit,             // the controller lets effects out before their writes are durable
  AckBeforeJournal,             // the agent lets effects out before its journal has them
  DoubleStartAfterRestart,      // a restarted agent starts what it had started before
  LostOnUnreachable,            // an agent that disconnects makes its actions LOST
  AgentLosesOnConflict,         // the controller's record stands against the agent's own action
  DependentsReleasedOnFailure,  // a dependency that failed counts as one that succeeded
  FinalStatusOverwritten,       // a late report changes a status that is final
  TwoActionsAtOnce,             // an agent starts an action while another runs
  FenceIgnored,                 // the store takes writes of a controller that was replaced
  KeyForgotten,                 // a restart forgets the Idempotency-Keys
  FinishedStartsAgain,          // an agent starts a known attempt that has ended when it is resent
  DeadlineForgotten,            // a dispatched action has no deadline
};

std::string_view name(Bug bug);  // "send-before-commit"; None is "none"
std::optional<Bug> parse_bug(std::string_view text);
std::vector<Bug> all_bugs();  // without None

#ifdef MUSTER_PLANT_BUGS
inline constexpr bool kBugsCanBePlanted = true;
#else
inline constexpr bool kBugsCanBePlanted = false;
#endif

constexpr bool planted(Bug chosen, Bug asked) { return kBugsCanBePlanted && chosen == asked; }

}  // namespace muster
