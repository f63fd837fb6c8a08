#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/path.h"
#include "model/place.h"

namespace muster::sitefile {

// Where in the model files each item and property is declared, so that an error about a path and a
// property can be shown with its line. A value.
class Places {
 public:
  struct Spot {
    std::uint32_t file = 0;  // of add_file()
    std::int32_t line = 0;   // 0: not declared
    std::int32_t column = 0;
  };
  struct Node {
    Spot spot;  // of the item's id
    Spot type;
    Spot inherit;
    std::map<std::string, Spot, std::less<>> properties;  // of their values
    std::map<std::string, Node, std::less<>> children;
  };

  explicit Places(model::Path at = {}) : at_(std::move(at)) {}

  // Of the property; where that is not declared, or none is named, of the item; where that is not
  // declared, of the nearest one above it that is. Of what is not at or below the declared path:
  // an unknown place.
  model::Place find(const model::Path& path, std::string_view property = {}) const;
  // For each place the item whose declaration begins last before it; the declared path itself where
  // none does, or where the file is not known.
  std::vector<model::Path> items_at(const std::vector<model::Place>& places) const;

  // --- For readers of model files. ---

  std::uint32_t add_file(std::string name);
  model::Place place(const Spot& spot) const;
  Node& root() { return root_; }
  // What is declared is declared for another path.
  void move_to(model::Path at) { at_ = std::move(at); }

 private:
  model::Path at_;
  std::vector<std::string> files_;
  Node root_;
};

}  // namespace muster::sitefile
