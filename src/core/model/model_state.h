#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/input.h"
#include "core/model/revision.h"
#include "model/edit.h"
#include "model/migrate.h"
#include "model/schema.h"
#include "model/tree.h"

namespace muster::core {

// What the store knows of a revision without reading its changes.
struct KeptRevision {
  std::uint64_t number = 0;
  std::size_t changes = 0;
};

// A model as it was found in the store, its items already those of the schema.
struct RestoredModel {
  model::Tree tree;
  std::uint64_t revision = 0;
  std::deque<KeptRevision> kept;          // oldest first
  std::vector<std::string> migrated;      // what migrations have done to it; written at the start
  std::vector<model::Change> rewrite;     // and the items that they have changed
  std::vector<std::string> pack_changes;  // since then, in words
};

// An edit that waits for something that the engine does not know.
struct PendingEdit {
  EditModel edit;    // a restore becomes a declaration once the past is known
  std::string what;  // was asked for, in words
  model::Answers answers = {};
  int rounds = 0;                // of questions
  std::uint64_t asked_from = 0;  // of a restore: the revision that was current when it asked
};

// The deployment model, as the engine has it in memory.
struct ModelState {
  ModelState(model::SchemaPtr schema_in, model::Tree tree_in)
      : schema(std::move(schema_in)), tree(std::move(tree_in)) {}

  // First, because items point into it.
  model::SchemaPtr schema;
  model::Tree tree;
  std::uint64_t revision = 0;
  std::deque<KeptRevision> kept;
  std::string last_change;  // since the start, in words
  std::map<LookupId, PendingEdit> pending;
  // What start() has to write.
  std::vector<std::string> migrated;
  std::vector<model::Change> rewrite;
  std::vector<std::string> pack_changes;
};

// What may be read of it.
struct ModelView {
  const model::Schema& schema;
  const model::Tree& tree;
  std::uint64_t revision = 0;
};

}  // namespace muster::core
