#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "core/engine.h"
#include "store/store.h"

// From the store into the engine: everything at the start, single actions of the history later.

namespace muster::store {

struct Loaded {
  std::size_t agents = 0;
  std::size_t actions = 0;
  std::size_t items = 0;  // of the model
};

// Told of each record that cannot be decoded; it is quarantined, and never stops the start. Items
// of the model are the exception (model_loader.h).
using OnQuarantined = std::function<void(Space space, std::string_view key, const Error& problem)>;

// Restores every record; start() of the engine is the caller's. Errors are the store's.
Result<Loaded> load_engine(Store& store, core::Engine& engine, Timestamp now,
                           const OnQuarantined& on_quarantined);

// What the history has. Live actions are the engine's own and are left out, and so is what cannot
// be read.
core::LookupDone answer_lookup(Store& store, const core::Lookup& lookup);

}  // namespace muster::store
