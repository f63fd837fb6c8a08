#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/item_record.h"
#include "sim/check_durable.h"
#include "store/store.h"

namespace muster::sim {

// Promises 1 and 8 for the deployment model, from its records alone: revisions follow each other
// without a gap, each changes exactly the items that are written with it and starts from what was
// there, what was acknowledged is stored before and stays, a repeated key gives the same revision,
// and nothing stands below, or inherits from, an item that is not there.
class CheckModel {
 public:
  Wrong on_batch(const store::Batch& batch);
  Wrong on_reply(std::uint64_t revision) const;
  Wrong on_acknowledged(const std::string& key, std::uint64_t revision);
  Wrong at_end() const;

 private:
  using Items = std::map<std::string, model::ItemRecord>;

  Wrong check_revisions(const store::Batch& batch, Items& expected);

  Items items_;  // by path
  std::uint64_t newest_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::map<std::string, std::uint64_t> by_key_;
};

}  // namespace muster::sim
