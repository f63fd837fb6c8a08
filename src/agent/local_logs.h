#pragma once

#include <memory>

#include "agent/agent_loop.h"
#include "agent/local_request.h"
#include "http/router.h"

// The output of actions over the local API.

namespace muster::agent {

// Answers with what there is at the offset, up to the limit. X-Muster-Log-Offset is where to go on,
// X-Muster-Log-End whether nothing will follow.
void respond_with_log(AgentLoop& loop, const core::ActionId& id, const LogQuery& query,
                      const http::Request& request,
                      const std::shared_ptr<http::Responder>& responder);

// Streams output as it comes until the run has ended or the client leaves.
void follow_log(AgentLoop& loop, const core::ActionId& id, const LogQuery& query,
                const std::shared_ptr<http::Responder>& responder);

}  // namespace muster::agent
