#pragma once

#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"
#include "cli/model.h"

// Whole models: `muster apply`, `muster diff` and `muster export`.

namespace muster::cli {

struct ApplyOptions {
  std::vector<std::string> files;   // files or folders, each an edit of its own place
  std::string at = "/";             // what the files declare
  bool prune = false;               // what is no longer declared goes
  std::vector<std::string> values;  // NAME=VALUE, of placeholders
  std::string values_file;
  bool detailed_exitcode = false;  // diff
  EditOptions edit;
};

Outcome<ExitCode> apply_files(Context& context, ApiClient& client, const ApplyOptions& options);
Outcome<ExitCode> diff_files(Context& context, ApiClient& client, ApplyOptions options);

struct ExportOptions {
  std::string path = "/";
  std::string format = "yaml";  // yaml, json or xml
  std::string file;             // empty: stdout
};
Outcome<ExitCode> export_model(Context& context, ApiClient& client, const ExportOptions& options);

}  // namespace muster::cli
