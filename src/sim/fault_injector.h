#pragma once

#include "sim/context.h"
#include "sim/fleet.h"

namespace muster::sim {

// Makes the faults that come by themselves, at the rates of the swarm, until the world heals.
class FaultInjector {
 public:
  FaultInjector(Context& context, Fleet& fleet) : context_(context), fleet_(fleet) {}

  void start();
  // A process passes a point at which it may die.
  void on_point(Point point, std::size_t node);

 private:
  void plan(Fault fault);
  void inject(Fault fault);
  void inject_into_agent(Fault fault, std::size_t agent);
  void partition(Fault fault, std::size_t agent);
  Duration some(Duration low, Duration high) { return context_.random.between(low, high); }
  Duration down_time();

  Context& context_;
  Fleet& fleet_;
};

}  // namespace muster::sim
