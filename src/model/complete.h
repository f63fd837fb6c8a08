#pragma once

#include "model/migrate.h"

namespace muster::model {

// The empty collection that `element` is of an item that is kept as `above`.
ItemRecord new_collection(const ItemRecord& above, const Element& element);

// Gives items what their types have come to give a new item by itself: defaults of properties,
// collections, and required children that need no value; collections hold what their element says.
// Nothing is taken away. What has a type that the schema does not know is passed over.
void complete(ItemRecords& items, const Schema& schema);

}  // namespace muster::model
