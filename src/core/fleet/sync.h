#pragma once

#include "core/state.h"

// What agents say, and what follows: sessions, the sync of their views, reports, adoption.

namespace muster::core {

void handle_connected(Step& step, const AgentConnected& connected);
void handle_disconnected(Step& step, const AgentDisconnected& disconnected);
void handle_heartbeat(Step& step, const AgentHeartbeat& heartbeat);
void handle_report(Step& step, const AgentReport& report);
void handle_sync_page(Step& step, const AgentSyncPage& page);
void handle_refresh(Step& step, const RefreshRequest& request);
void handle_agent_timer(Step& step, const AgentName& name);

}  // namespace muster::core
