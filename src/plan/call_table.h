#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "plan/index_table.h"
#include "plan/task.h"

namespace muster::plan {

// Config tasks by node and call. It keeps indexes; `call_of(index)` and `node_of(index)` of the
// caller say what they stand for.
class CallTable {
 public:
  // kNone: there is none.
  std::uint32_t find(std::uint32_t node, const Call& call, const auto& node_of,
                     const auto& call_of) const {
    return table_.find(hash(node, call), [&](std::uint32_t index) {
      return node_of(index) == node && call_of(index) == call;
    });
  }
  void add(std::uint32_t node, const Call& call, std::uint32_t index) {
    table_.add(hash(node, call), index);
  }
  void reserve(std::size_t count) { table_.reserve(count); }

 private:
  static std::size_t hash(std::uint32_t node, const Call& call) {
    const std::hash<std::string> text;
    return mix(mix(text(call.id), text(call.type)), node);
  }

  IndexTable table_;
};

}  // namespace muster::plan
