#pragma once

#include <vector>

#include "core/state.h"

// Changing the deployment model: every change is one revision, written with the items that it
// touches. An edit may first need answers from outside, of plugins, of the controller's host or of
// the history; it is computed anew with them, over the model as it is then.

namespace muster::core {

// Writes what a start brings: the first revision of a model, or the migration of an older one.
void start_model(Step& step);

void handle_edit(Step& step, const EditModel& edit);
void handle_answered(Step& step, const ModelAnswered& answered);
void handle_revisions_read(Step& step, const RevisionsRead& read);

// All errors of an edit as one. It takes the code of the one that a client would look at first.
Error to_error(const std::vector<model::ModelError>& errors);

}  // namespace muster::core
