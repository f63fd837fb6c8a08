#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/schema.h"
#include "model/tree.h"
#include "store/model_codec.h"

// The deployment model in answers.

namespace muster::controller {

// In place of a value that its type marks as secret.
inline const std::string kSecretShown = "***";

inline constexpr std::size_t kItemsPerAnswerMax = 10'000;

// How many items an answer to this depth would have; stops counting beyond the limit.
std::size_t count_items(const model::Node& node, std::size_t depth, std::size_t limit);

// An item and what is below it, `depth` levels deep.
Json item_json(const model::Node& node, std::size_t depth);
// As a row of a list.
Json item_row_json(const model::Node& node);

Json revision_json(const store::RevisionHead& head);

// The first kItemsPerAnswerMax changes.
Json changes_json(const std::vector<store::ItemChange>& changes, const model::Schema& schema);
Json changes_json(const model::ChangeSet& changes, const model::Schema& schema);

// What the changes have begun to use although its pack calls it deprecated, in words.
Json notices_json(const model::ChangeSet& changes);

}  // namespace muster::controller
