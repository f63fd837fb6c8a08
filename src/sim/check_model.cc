#include "sim/check_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/model_codec.h"

namespace muster::sim {
namespace {

// The changes of a revision, from its parts in the batch.
std::vector<store::ItemChange> changes_of(const store::Batch& batch, std::uint64_t number) {
  std::vector<store::ItemChange> changes;
  const std::string prefix = store::part_key(number, 0).substr(0, 8);
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::RevisionPart || !write.value) continue;
    if (!write.key.starts_with(prefix)) continue;
    auto part = store::decode_part(*write.value);
    if (part) changes.insert(changes.end(), part->begin(), part->end());
  }
  return changes;
}

}  // namespace

// What the items must be after the revisions of the batch.
Wrong CheckModel::check_revisions(const store::Batch& batch, Items& expected) {
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::Revision || !write.value) continue;
    const auto head = store::decode_revision(*write.value);
    if (!head) return fmt::format("a revision cannot be read: {}", head.error().message);
    // A batch whose outcome was unknown is written again.
    if (head->number <= newest_) continue;
    if (head->number != newest_ + 1) {
      return fmt::format("revision {} of the model follows revision {}", head->number, newest_);
    }
    newest_ = head->number;
    for (const store::ItemChange& change : changes_of(batch, head->number)) {
      const std::string& path = change.path.text();
      const auto found = expected.find(path);
      const bool as_before = change.before
                                 ? found != expected.end() && found->second == *change.before
                                 : found == expected.end();
      if (!as_before) {
        return fmt::format("revision {} changes {} from what it was not", head->number, path);
      }
      if (change.after) {
        expected.insert_or_assign(path, *change.after);
      } else {
        expected.erase(path);
      }
    }
  }
  return std::nullopt;
}

Wrong CheckModel::on_batch(const store::Batch& batch) {
  Items expected = items_;
  if (auto wrong = check_revisions(batch, expected)) return wrong;
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::Item) continue;
    if (!write.value) {
      items_.erase(write.key);
      continue;
    }
    auto item = store::decode_item(*write.value);
    if (!item) return fmt::format("item {} cannot be read: {}", write.key, item.error().message);
    items_.insert_or_assign(write.key, std::move(*item));
  }
  if (items_ == expected) return std::nullopt;
  return fmt::format("the items of the model are not what revision {} has made of them", newest_);
}

Wrong CheckModel::on_reply(std::uint64_t revision) const {
  if (revision <= newest_) return std::nullopt;
  return fmt::format("revision {} of the model was acknowledged, the store has {}", revision,
                     newest_);
}

Wrong CheckModel::on_acknowledged(const std::string& key, std::uint64_t revision) {
  acknowledged_ = std::max(acknowledged_, revision);
  if (key.empty()) return std::nullopt;
  const auto [known, first] = by_key_.emplace(key, revision);
  if (first || known->second == revision) return std::nullopt;
  return fmt::format("the edit with key '{}' made revision {}, and now makes {}", key,
                     known->second, revision);
}

Wrong CheckModel::at_end() const {
  if (acknowledged_ > newest_) {
    return fmt::format("revision {} of the model was acknowledged, the store has {}", acknowledged_,
                       newest_);
  }
  for (const auto& [text, item] : items_) {
    const auto path = model::Path::parse(text);
    if (!path) return fmt::format("item '{}' has no path", text);
    if (!path->is_root() && !items_.contains(path->parent().text())) {
      return fmt::format("item {} stands in nothing", text);
    }
    if (item.source && !items_.contains(item.source->text())) {
      return fmt::format("item {} inherits from {}, which is not there", text, item.source->text());
    }
  }
  return std::nullopt;
}

}  // namespace muster::sim
