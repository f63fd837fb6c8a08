#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/declaration.h"
#include "model/schema.h"
#include "model/tree.h"
#include "store/store.h"

// A site of any size, in the shape of real ones, for `muster bench model`: clusters of 50 nodes, of
// which each has a machine of its own, software that it shares with the others, and configuration.

namespace muster::bench {

inline constexpr std::size_t kClusterNodes = 50;
inline constexpr std::size_t kPackages = 200;
inline constexpr std::size_t kNodePackages = 10;
inline constexpr std::size_t kNodeConfigs = 20;
inline constexpr std::size_t kNodeInterfaces = 2;

// Types with the checks that real packs have: regular expressions, ranges, addresses.
model::SchemaPtr site_schema();

// The site with so many nodes, as a model file declares it.
model::Declaration site_declaration(std::size_t nodes);

// Items of a model with so many nodes, and of those how many its file declares, without what is the
// same for all sizes. Collections count.
inline constexpr std::size_t kItemsOfNode =
    // node, its machine with a disk, software, configuration, interfaces
    1 + 3 + (1 + kNodePackages) + (1 + kNodeConfigs) + (1 + kNodeInterfaces) +
    // the machine itself
    3;
inline constexpr std::size_t kDeclaredOfNode = kItemsOfNode - 2;  // the disk that is taken over

std::size_t count_declared(const model::Declaration& declaration);

model::Path node_path(std::size_t number);

// Writes the model of a site, all of it applied, as a controller would. Answers with how many items
// it has.
Result<std::size_t> store_site(store::Store& store, std::size_t nodes,
                               const model::SchemaPtr& schema);

// Bytes of ids, values and paths of sources: what a model holds however it is held.
std::size_t text_bytes(const model::Node& node);

}  // namespace muster::bench
