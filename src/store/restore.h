#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace muster::store {

// Puts a backup (Store::backup, or a copy of a store that was closed) in the place of the store.
//
// The backup is copied, and the copy checked, before anything of the store is touched; the backup
// itself is only read. The old store stays beside the new one as `<store>.before-restore-<n>`. The
// exchange is one step: after a crash the store is the old one or the new one, never a mixture. The
// term grows beyond that of both, so that a writer of before is fenced; and to the seconds of `now`
// at least, so that agents which have met later controllers than the backup knows of take this one.
//
// Errors: NotFound (no backup), StoreLocked (a server runs on the store), StoreCorrupt, StoreNewer
// (the backup cannot be used), IoError, StoreUnavailable (no room).
Result<void> restore_store(const std::string& backup_file, const std::string& store_path,
                           Timestamp now);

}  // namespace muster::store
