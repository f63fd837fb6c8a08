#include "base/planted_bug.h"

#include <array>
#include <utility>

namespace muster {
namespace {

constexpr std::array kNames = {
    std::pair{Bug::None, std::string_view("none")},
    std::pair{Bug::SendBeforeCommit, std::string_view("send-before-commit")},
    std::pair{Bug::AckBeforeJournal, std::string_view("ack-before-journal")},
    std::pair{Bug::DoubleStartAfterRestart, std::string_view("double-start-after-restart")},
    std::pair{Bug::LostOnUnreachable, std::string_view("lost-on-unreachable")},
    std::pair{Bug::AgentLosesOnConflict, std::string_view("agent-loses-on-conflict")},
    std::pair{Bug::DependentsReleasedOnFailure, std::string_view("dependents-released-on-failure")},
    std::pair{Bug::FinalStatusOverwritten, std::string_view("final-status-overwritten")},
    std::pair{Bug::TwoActionsAtOnce, std::string_view("two-actions-at-once")},
    std::pair{Bug::FenceIgnored, std::string_view("fence-ignored")},
    std::pair{Bug::KeyForgotten, std::string_view("key-forgotten")},
    std::pair{Bug::FinishedStartsAgain, std::string_view("finished-starts-again")},
    std::pair{Bug::DeadlineForgotten, std::string_view("deadline-forgotten")},
};

}  // namespace

std::string_view name(Bug bug) {
  for (const auto& [each, text] : kNames) {
    if (each == bug) return text;
  }
  return "?";
}

std::optional<Bug> parse_bug(std::string_view text) {
  for (const auto& [each, known] : kNames) {
    if (known == text) return each;
  }
  return std::nullopt;
}

std::vector<Bug> all_bugs() {
  std::vector<Bug> bugs;
  for (const auto& [each, text] : kNames) {
    if (each != Bug::None) bugs.push_back(each);
  }
  return bugs;
}

}  // namespace muster
