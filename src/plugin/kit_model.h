#pragma once

#include <string>
#include <vector>

#include "document/map_reader.h"
#include "model/declaration.h"
#include "model/tree.h"
#include "plugin/host.h"

// Models for the contract test kit.

namespace muster::plugin {

// A declaration from a file: `type`, `inherit`, `properties`, and children.
model::Declaration read_declaration(const document::Document& file, document::Problems& problems);

struct KitModel {
  std::string name;
  model::Tree tree;
  std::vector<std::string> problems = {};  // why it is not as it was declared
  std::vector<std::string> skipped = {};   // types of the pack that no item could be made of
};

// The model that is declared; checks of plugins are asked of `host`.
KitModel declared_model(std::string name, const model::SchemaPtr& schema,
                        const model::Declaration& declaration, PluginHost& host);

// A cluster with two nodes and an item of each type of the pack, as far as places and values can be
// found for it.
KitModel sample_model(const model::SchemaPtr& schema, const std::string& pack, PluginHost& host);

// Puts every item into a state, as if a plan had applied it, or as if it was to be removed.
void set_all_states(model::Tree& tree, model::ItemState state, const std::string& only_pack = {});

}  // namespace muster::plugin
