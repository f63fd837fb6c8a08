#include "controller/model_snapshot.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/check.h"

namespace muster::controller {

Result<plugin::SnapshotPtr> take_snapshot(Controller& controller, const model::SchemaPtr& schema,
                                          Duration deadline) {
  // Shared, because the engine may come to it after the deadline.
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    plugin::SnapshotPtr snapshot;
  };
  const auto wait = std::make_shared<Wait>();
  controller.query([wait, schema](const core::Engine& engine, Timestamp) {
    plugin::SnapshotPtr snapshot;
    if (const auto view = engine.model()) {
      snapshot = std::make_shared<const plugin::Snapshot>(view->tree, schema, view->revision);
    }
    const std::lock_guard lock(wait->mutex);
    wait->snapshot = std::move(snapshot);
    wait->done = true;
    wait->changed.notify_all();
  });
  std::unique_lock lock(wait->mutex);
  if (!wait->changed.wait_for(lock, std::chrono::microseconds(deadline.us),
                              [&] { return wait->done; })) {
    return fail(ErrorCode::StoreUnavailable,
                "the engine did not answer within {}; `muster status` tells what it waits for",
                format_duration(deadline));
  }
  if (!wait->snapshot) return fail(ErrorCode::NotFound, "this controller has no model");
  return wait->snapshot;
}

model::Tree tree_of(const plugin::Snapshot& snapshot) {
  const auto& rows = snapshot.rows();
  MUSTER_CHECK(!rows.empty(), "a model without a root");
  model::Tree tree(rows.front().item);
  std::vector<const model::Node*> nodes(rows.size());
  nodes.front() = &tree.root();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    nodes[i] =
        &tree.add(*nodes[static_cast<std::size_t>(rows[i].parent)], rows[i].id, rows[i].item);
  }
  for (const model::Node* node : nodes) {
    if (node->item().source && !node->source()) (void)tree.connect(*node);
  }
  return tree;
}

}  // namespace muster::controller
