#include "sim/faults.h"

namespace muster::sim {

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::ControllerCrash:
      return "controller-crash";
    case Fault::ControllerCrashAt:
      return "controller-crash-at-write-or-message";
    case Fault::ControllerReplaced:
      return "controller-replaced";
    case Fault::AgentCrash:
      return "agent-crash";
    case Fault::AgentCrashAt:
      return "agent-crash-at-write-or-message";
    case Fault::HostReboot:
      return "host-reboot";
    case Fault::HostGone:
      return "host-gone";
    case Fault::JournalLost:
      return "journal-lost";
    case Fault::RunnerKilled:
      return "runner-killed";
    case Fault::MessageLost:
      return "message-lost";
    case Fault::MessageDuplicated:
      return "message-duplicated";
    case Fault::MessageReordered:
      return "message-reordered";
    case Fault::MessageDelayed:
      return "message-delayed";
    case Fault::Partition:
      return "partition";
    case Fault::PartitionOneWay:
      return "partition-one-way";
    case Fault::Disconnect:
      return "disconnect";
    case Fault::RequestLost:
      return "request-lost";
    case Fault::StoreRefuses:
      return "store-refuses";
    case Fault::StoreTimeoutApplied:
      return "store-timeout-applied";
    case Fault::StoreTimeoutLost:
      return "store-timeout-lost";
    case Fault::StoreAppliesLate:
      return "store-applies-late";
    case Fault::StoreFull:
      return "store-full";
    case Fault::StoreSlow:
      return "store-slow";
    case Fault::JournalRefuses:
      return "journal-refuses";
    case Fault::JournalTimeoutApplied:
      return "journal-timeout-applied";
    case Fault::JournalFull:
      return "journal-full";
    case Fault::ControllerClockJump:
      return "controller-clock-jump";
    case Fault::AgentClockJump:
      return "agent-clock-jump";
  }
  return "?";
}

}  // namespace muster::sim
