#pragma once

#include "model/schema.h"

// A small world for tests: like the core pack in shape, small enough to hold in the head.
//
//   /ms                          always there
//   /software/items/*            package{name*, version=1, note (no configuration)},
//                                bundle extends package {parts/*: package}
//   /infrastructure/systems/*    system{serial*}, disks/*: disk{size}
//   /deployments/*/clusters/*/nodes/*
//       node{hostname*, is_locked (plugins only), password (secret)}
//         system*   reference to a system, exclusive
//         profile   read-only reference to a package
//         items     references to packages
//         configs   collection of config{key*, value, low, high}; exactly one of value and low

namespace muster::model::testing {

PackDefinition test_pack();
SchemaPtr test_schema();

}  // namespace muster::model::testing
