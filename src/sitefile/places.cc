#include "sitefile/places.h"

#include <utility>

namespace muster::sitefile {

model::Place Places::find(const model::Path& path, std::string_view property) const {
  if (!path.is_at_or_below(at_)) return {};
  const std::vector<std::string_view> segments = path.segments();
  const Node* node = &root_;
  bool whole = true;
  for (std::size_t i = at_.segments().size(); i < segments.size(); ++i) {
    const auto child = node->children.find(segments[i]);
    if (child == node->children.end()) {
      whole = false;
      break;
    }
    node = &child->second;
  }
  if (whole && !property.empty()) {
    const auto found = node->properties.find(property);
    if (found != node->properties.end()) return place(found->second);
  }
  return place(node->spot);
}

std::uint32_t Places::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

model::Place Places::place(const Spot& spot) const {
  if (spot.line == 0) return {};
  return {files_.at(spot.file), spot.line, spot.column};
}

}  // namespace muster::sitefile
