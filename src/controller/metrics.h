#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "controller/controller.h"
#include "core/effects.h"
#include "core/engine.h"
#include "core/event.h"
#include "store/store.h"

namespace muster::controller {

// What the gauges show at one moment; gathered by whoever serves /metrics.
struct MetricsSnapshot {
  core::EngineStats engine;
  ControllerHealth health;
  store::StoreStats store;
  std::size_t event_subscribers = 0;
};

// The controller's figures in Prometheus' text form. Counters live here; gauges are built from a
// snapshot when asked for, so that none can go stale. Labels never carry ids or names that clients
// choose. Thread-safe.
class Metrics {
 public:
  Metrics(std::string_view version, Timestamp started_at);
  ~Metrics();

  // Every published event; counts the actions and runs that ended.
  void on_event(const core::Event& event);
  void on_measured(const core::Measurement& measurement);
  void on_commit(Duration duration);
  // `route` is the pattern, not the path.
  void on_http(std::string_view route, std::string_view method, int code, double seconds);

  std::string expose(const MetricsSnapshot& snapshot);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace muster::controller
