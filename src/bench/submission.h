#pragma once

#include <cstddef>
#include <string>

namespace muster::bench {

// The body of a request for `count` no-ops, the i-th for the emulated agent (first + i) % agents.
std::string noops_body(std::size_t first, std::size_t count, std::size_t agents);

}  // namespace muster::bench
