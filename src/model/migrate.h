#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/item_record.h"
#include "model/path.h"
#include "model/schema.h"

namespace muster::model {

using PackVersions = std::map<std::string, std::string, std::less<>>;
using ItemRecords = std::map<Path, ItemRecord>;

PackVersions versions_of(const Schema& schema);

// How the packs differ from those of before, one line each: "demo is 1.1, was 1.0".
std::vector<std::string> pack_changes(const PackVersions& from, const Schema& schema);

// Packs that the model was made with and that are not there. Whether items need them shows when the
// items are read.
std::vector<std::string> missing_packs(const PackVersions& from, const Schema& schema);

// Packs that have become older than those the model was made with, which cannot be helped.
std::vector<std::string> version_problems(const PackVersions& from, const Schema& schema);

// Takes the items forward by the migrations of every pack that is newer than it was, and then gives
// them what their types have come to give a new item by itself (complete.h). REQUIRES:
// version_problems() is empty. The answer tells what was done, one line a migration.
std::vector<std::string> migrate(ItemRecords& items, const PackVersions& from,
                                 const Schema& schema);

}  // namespace muster::model
