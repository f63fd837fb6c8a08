#pragma once

#include "core/state.h"

// Gets dispatchable actions to where they are executed: engine actions to the controller's workers,
// agent actions to their agents.

namespace muster::core {

// Starts engine actions that are due while there are free workers.
void start_ready_jobs(Step& step);

// Sends an agent action if it is due and its agent is ready. Sending it again is harmless.
void send_to_agent(Step& step, const ActionPtr& action);

// Sends whatever became due in this step.
void send_dispatchable(Step& step);

void handle_job_done(Step& step, const JobDone& done);
void handle_job_status(Step& step, const JobStatus& status);

// A deadline or next_try of the action has passed.
void handle_action_timer(Step& step, const ActionId& id);

// Settles an engine action that a former controller was executing.
void recover_job(Step& step, const ActionPtr& action);

}  // namespace muster::core
