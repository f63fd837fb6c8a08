#pragma once

#include "base/result.h"
#include "base/time.h"
#include "controller/controller.h"
#include "model/tree.h"
#include "plugin/snapshot.h"

// The model for threads other than the engine's.

namespace muster::controller {

// Waits for the engine; not to be called on its thread. Errors: StoreUnavailable after the
// deadline, NotFound where there is no model.
Result<plugin::SnapshotPtr> take_snapshot(Controller& controller, const model::SchemaPtr& schema,
                                          Duration deadline = Duration::seconds(30));

// A tree with the same items.
model::Tree tree_of(const plugin::Snapshot& snapshot);

}  // namespace muster::controller
