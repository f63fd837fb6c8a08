#pragma once

#include "model/schema.h"
#include "plan/ruleset.h"

// A small world for tests of the planner: like the core pack in shape.
//
//   /ms                       {items/*}
//   /software                 {items/*}
//   /deployments/*/clusters/* cluster{ha_manager, dependency_list} or lone-cluster{dependency_list}
//     software/* (after nodes), services/* (after software), configs/* (after nodes)
//     nodes/*                 node{is_locked}
//       os, networks/* (after os), disks/* (after networks), items/* (after disks),
//       services/* (after disks), configs/* (after disks)
//
// Whatever stands in these is a thing{value}, and has parts/*. Groups are those of the core pack.

namespace muster::plan::testing {

model::SchemaPtr test_schema();
Ruleset test_ruleset(const model::Schema& schema);

}  // namespace muster::plan::testing
