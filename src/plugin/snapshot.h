#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/path.h"
#include "model/schema.h"
#include "model/tree.h"

namespace muster::plugin {

// A model at one moment, for threads that must not look at the tree while it is edited. Items are
// shared with the tree, not copied. Immutable; rows stand in the order of the tree, each before
// what is below it, so that a subtree is one range of rows.
class Snapshot {
 public:
  static constexpr std::int32_t kNone = -1;

  struct Row {
    std::int32_t parent = kNone;
    std::int32_t end = 0;         // one after the last row below it
    std::int32_t source = kNone;  // what it inherits from
    std::uint32_t children = 0;   // where they begin in the list of children
    std::uint32_t child_count = 0;
    std::string id;
    model::ItemPtr item;
    model::PropertiesPtr properties;  // own and inherited
  };

  Snapshot(const model::Tree& tree, model::SchemaPtr schema, std::uint64_t revision);

  const model::Schema& schema() const { return *schema_; }
  const model::SchemaPtr& schema_ptr() const { return schema_; }
  std::uint64_t revision() const { return revision_; }
  const std::vector<Row>& rows() const { return rows_; }
  const Row& row(std::int32_t number) const { return rows_[static_cast<std::size_t>(number)]; }

  // kNone: nothing is there.
  std::int32_t find(const model::Path& path) const;
  std::int32_t find_child(std::int32_t parent, std::string_view id) const;
  std::vector<std::int32_t> children(std::int32_t parent) const;
  model::Path path(std::int32_t number) const;
  // The nearest at or above `number` that is of the type or extends it; kNone: there is none.
  std::int32_t ancestor(std::int32_t number, std::string_view type) const;

 private:
  model::SchemaPtr schema_;
  std::uint64_t revision_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> children_;  // of each row together, sorted by id
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace muster::plugin
