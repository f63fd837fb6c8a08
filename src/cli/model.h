#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"

// `muster model`: looking at the deployment model, changing it item by item, and its history.

namespace muster::cli {

// What every change of the model can be told.
struct EditOptions {
  std::string why;
  bool dry_run = false;
  std::string if_match;  // an ETag without its quotes
  std::string idempotency_key;
};

struct ItemOptions {
  std::string path;
  std::string type;                 // create
  std::string source;               // inherit
  std::vector<std::string> values;  // NAME=VALUE
  std::vector<std::string> unset;   // update
  EditOptions edit;
};

Outcome<ExitCode> create_item(Context& context, ApiClient& client, const ItemOptions& options);
Outcome<ExitCode> inherit_item(Context& context, ApiClient& client, const ItemOptions& options);
Outcome<ExitCode> update_item(Context& context, ApiClient& client, const ItemOptions& options);
Outcome<ExitCode> remove_item(Context& context, ApiClient& client, const ItemOptions& options);

Outcome<ExitCode> show_item(Context& context, ApiClient& client, const std::string& path,
                            std::uint64_t depth);
Outcome<ExitCode> show_tree(Context& context, ApiClient& client, const std::string& path,
                            std::uint64_t depth);

struct FindOptions {
  std::string below;
  std::string type;
  std::string state;
  std::string id;
  std::vector<std::string> properties;  // NAME=VALUE
  std::uint64_t limit = 0;              // 0: all
};
Outcome<ExitCode> find_items(Context& context, ApiClient& client, const FindOptions& options);

Outcome<ExitCode> show_history(Context& context, ApiClient& client, std::uint64_t limit);
Outcome<ExitCode> diff_revisions(Context& context, ApiClient& client, std::uint64_t from,
                                 std::uint64_t to);
Outcome<ExitCode> restore_revision(Context& context, ApiClient& client, std::uint64_t number,
                                   const EditOptions& options);

// Sends a change of the model and prints what it did.
Outcome<Json> send_edit(Context& context, ApiClient& client, ApiClient::Change change,
                        const EditOptions& options);
void print_edit(Context& context, const Json& answer);

// "/v1/model/a/b" of "/a/b".
Outcome<std::string> model_path(const std::string& path);

}  // namespace muster::cli
