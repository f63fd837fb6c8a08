#pragma once

#include <string>

#include "core/state.h"

namespace muster::core {

// The answer to a SignalRequest.
void handle_signal(Step& step, const SignalRequest& request);

// CANCEL of a live action, by whatever asks for it: at once where nothing can be running, otherwise
// by a signal to the executor. With `force` it ends now; what may still run is told to stop when it
// can be reached.
void cancel(Step& step, const Action& action, const std::string& reason, const std::string& actor,
            bool force);

// Sends the pending signal of an action again, to an agent that has just synced.
void resend_control(Step& step, const Action& action);

}  // namespace muster::core
