#pragma once

#include <optional>
#include <string>

#include "core/agent/agent_io.h"
#include "core/effects.h"
#include "sim/views.h"

// Durable before visible: whatever leaves a process rests on what is on its disk at that moment.
// The half of promises 1 and 2 that can be seen without a crash. Each answers with what is wrong.

namespace muster::sim {

using Wrong = std::optional<std::string>;

// What leaves the controller.
Wrong check_durable(const RecordView& records, const core::Reply& reply);
Wrong check_durable(const RecordView& records, const std::string& agent,
                    const core::AgentSend& send);
Wrong check_durable(const RecordView& records, const core::StartJob& job);
Wrong check_durable(const RecordView& records, const core::Event& event);

// What leaves an agent.
Wrong check_durable(const JournalView& journal, const core::agent::AgentMessage& message);
Wrong check_durable(const JournalView& journal, const core::agent::LocalReply& reply);
// A run that was not started before.
Wrong check_durable_start(const JournalView& journal, const core::ActionId& id,
                          std::uint32_t attempt);

}  // namespace muster::sim
