#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "plugin/message.h"
#include "plugin/snapshot.h"

// The model as plugins read it (docs/plugins.md).

namespace muster::plugin {

// `types` of the initialize request.
Json types_json(const model::Schema& schema);

// Which values of secrets a plugin may see.
struct Reveal {
  std::string pack = {};  // only those whose property this pack declares; empty: none
};

// Tells the items of a snapshot in messages of a limited size, as they are asked for.
class ModelStream {
 public:
  // `types`: only items of these, with what is above and below them; empty: all.
  ModelStream(SnapshotPtr snapshot, const std::vector<const model::ItemType*>& types,
              Reveal reveal);

  std::size_t items() const { return items_; }
  // The next line, with its end; empty: there is none any more.
  std::string next();

 private:
  void keep_only(const std::vector<const model::ItemType*>& types);
  void append_row(std::string& line, const Snapshot::Row& row);
  void append_properties(std::string& line, const model::ItemType& type,
                         const model::PropertiesPtr& properties) const;
  std::int32_t number_of(std::int32_t row) const;

  const SnapshotPtr snapshot_;
  const Reveal reveal_;
  std::unordered_map<const model::ItemType*, std::int32_t> type_numbers_;
  std::vector<std::int32_t> numbers_;  // of rows that are sent, -1: not sent; empty: all are
  std::size_t items_ = 0;
  std::size_t next_row_ = 0;
};

// Whether a plugin may see the value of a property.
bool is_hidden(const model::ItemType& type, std::string_view property, const Reveal& reveal);

// Answers a `query` request.
tl::expected<Json, RpcError> answer_query(const Snapshot& snapshot, const Json& params,
                                          const Reveal& reveal);

// The item types that a request names. Error: kInvalidParams.
tl::expected<std::vector<const model::ItemType*>, RpcError> named_types(const model::Schema& schema,
                                                                        const Json& names);

// Appends `text` as a JSON string.
void append_json_text(std::string& out, std::string_view text);

}  // namespace muster::plugin
