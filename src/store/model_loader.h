#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/engine.h"
#include "model/schema.h"
#include "store/model_codec.h"
#include "store/store.h"

// The deployment model and its history, read from the store. Reading only: any thread.

namespace muster::store {

// The model for the types that there are now, migrated where packs have become newer. Nothing: the
// store has none yet. An item that cannot be used is not passed over, because a plan of what is
// left would take it off its hosts: the error (ModelUnfit) tells all that is in the way.
Result<std::optional<core::RestoredModel>> load_model(Store& store, const model::Schema& schema);

// Revisions with a number below `before` (0: all), newest first.
Result<std::vector<RevisionHead>> list_revisions(Store& store, std::uint64_t before,
                                                 std::size_t limit);
Result<std::optional<RevisionHead>> find_revision(Store& store, std::uint64_t number);
// By path.
Result<std::vector<ItemChange>> read_changes(Store& store, const RevisionHead& head);

// What the revisions after `from` up to `to` have changed, taken together: what looks the same
// before and after is left out. Errors: NotFound, Compacted, Conflict (a migration of packs lies
// between them).
Result<std::vector<ItemChange>> compare_revisions(Store& store, std::uint64_t from,
                                                  std::uint64_t to);

core::RevisionsRead answer_revisions(Store& store, const model::Schema& schema,
                                     const core::ReadRevisions& read);

}  // namespace muster::store
