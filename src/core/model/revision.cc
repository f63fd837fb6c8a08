#include "core/model/revision.h"

namespace muster::core {

void count_changes(Revision& revision) {
  revision.added = revision.changed = revision.removed = 0;
  for (const model::Change& change : *revision.changes) {
    // Collections come and go with the item that they belong to.
    if ((change.after ? change.after : change.before)->is_collection()) continue;
    if (!change.before) {
      ++revision.added;
    } else if (!change.after) {
      ++revision.removed;
    } else {
      ++revision.changed;
    }
  }
}

}  // namespace muster::core
