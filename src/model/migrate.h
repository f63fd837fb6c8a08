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

// What is in the way of using a model that was made with packs of the versions `from`: packs that
// are gone although items of theirs may be there are found by to_item(), but a pack that has become
// older cannot be helped. Empty: nothing.
std::vector<std::string> version_problems(const PackVersions& from, const Schema& schema);

// Takes the items forward by the migrations of every pack that is newer than it was. REQUIRES:
// version_problems() is empty. The answer tells what was done, one line a migration.
std::vector<std::string> migrate(ItemRecords& items, const PackVersions& from,
                                 const Schema& schema);

}  // namespace muster::model
