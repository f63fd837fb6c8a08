#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/effects.h"
#include "model/item_record.h"
#include "model/migrate.h"
#include "store/store.h"

// Between the deployment model and the bytes of the store (record.proto), under the same rules as
// record_codec.h.

namespace muster::store {

inline constexpr std::size_t kChangesPerPart = 500;
inline constexpr std::string_view kModelPacksKey = "model-packs";

// A revision without its changes.
struct RevisionHead {
  std::uint64_t number = 0;
  Timestamp at;
  std::string who;
  std::string what;
  std::string why;
  std::uint64_t added = 0;
  std::uint64_t changed = 0;
  std::uint64_t removed = 0;
  bool migration = false;
  std::uint64_t changes = 0;  // in its parts

  bool operator==(const RevisionHead&) const = default;
};

struct ItemChange {
  model::Path path;
  std::optional<model::ItemRecord> before;
  std::optional<model::ItemRecord> after;

  bool operator==(const ItemChange&) const = default;
};

std::string encode(const model::Item& item);
std::string encode(const RevisionHead& head);
std::string encode_part(const model::ChangeSet& changes, std::size_t first);
std::string encode(const model::PackVersions& versions);

Result<model::ItemRecord> decode_item(std::string_view bytes);
Result<RevisionHead> decode_revision(std::string_view bytes);
Result<std::vector<ItemChange>> decode_part(std::string_view bytes);
Result<model::PackVersions> decode_packs(std::string_view bytes);

std::string revision_key(std::uint64_t number);
std::string part_key(std::uint64_t number, std::uint32_t part);

void append_model(Batch& batch, const core::PutItem& write);
void append_model(Batch& batch, const core::PutRevision& write);
void append_model(Batch& batch, const core::DropRevision& write);
void append_model(Batch& batch, const core::PutModelPacks& write);

}  // namespace muster::store
