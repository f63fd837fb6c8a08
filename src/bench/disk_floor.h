#pragma once

#include <string>

#include "base/result.h"
#include "bench/samples.h"

namespace muster::bench {

// How long the disk below a directory takes to write and sync a few pages that it has room for:
// what every commit costs at least, whatever the program does. Blocks for some tenths of a second.
Result<Samples> measure_syncs(const std::string& directory);

}  // namespace muster::bench
