#pragma once

#include <string>

#include "cli/api_client.h"
#include "cli/context.h"

namespace muster::cli {

struct BackupOptions {
  std::string file;
  bool force = false;  // replace an existing file
};

// Streams a backup to FILE.part, checks its size and SHA-256 against what the controller said, and
// only then gives it its name, so that a file of that name is always a whole backup.
Outcome<ExitCode> backup(Context& context, ApiClient& client, const BackupOptions& options);

struct RestoreOptions {
  std::string file;
  std::string data_dir;
};

// Puts a backup in the place of the store in a data directory, which is made if it is missing. The
// controller must not run.
Outcome<ExitCode> restore(Context& context, const RestoreOptions& options);

}  // namespace muster::cli
