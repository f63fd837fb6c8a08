#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "model/tree.h"

namespace muster::core {

using ChangeSetPtr = std::shared_ptr<const model::ChangeSet>;

// One change of the model: all that one request, or one start with newer packs, has made of it.
struct Revision {
  std::uint64_t number = 0;  // 1 is the model that nobody has touched yet
  Timestamp at;
  std::string who;
  std::string what;  // "create /deployments/d1", as whoever made it would call it
  std::string why;   // as they put it
  std::size_t added = 0;
  std::size_t changed = 0;
  std::size_t removed = 0;
  // Packs were migrated: items before it have types and properties that no longer exist, so what it
  // changed is not kept, and nothing can be compared with or taken back to what was before it.
  bool migration = false;
  ChangeSetPtr changes;  // never null
};
using RevisionPtr = std::shared_ptr<const Revision>;

// The numbers of items that the changes have added, changed and removed.
void count_changes(Revision& revision);

}  // namespace muster::core
