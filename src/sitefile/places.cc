#include "sitefile/places.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace muster::sitefile {
namespace {

struct Begin {
  Places::Spot spot;
  model::Path path;

  auto key() const { return std::tie(spot.file, spot.line, spot.column); }
};

void collect(const Places::Node& node, const model::Path& path, std::vector<Begin>& begins) {
  if (node.spot.line != 0) begins.push_back({node.spot, path});
  for (const auto& [id, child] : node.children) collect(child, path.child(id), begins);
}

}  // namespace

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

std::vector<model::Path> Places::items_at(const std::vector<model::Place>& places) const {
  std::vector<Begin> begins;
  if (!places.empty()) collect(root_, at_, begins);
  std::sort(begins.begin(), begins.end(),
            [](const Begin& a, const Begin& b) { return a.key() < b.key(); });
  std::vector<model::Path> items;
  for (const model::Place& place : places) {
    const auto file = std::find(files_.begin(), files_.end(), place.file);
    Begin wanted{{static_cast<std::uint32_t>(file - files_.begin()), place.line, place.column}, {}};
    const auto after =
        std::upper_bound(begins.begin(), begins.end(), wanted,
                         [](const Begin& a, const Begin& b) { return a.key() < b.key(); });
    const bool is_known = file != files_.end() && after != begins.begin() &&
                          std::prev(after)->spot.file == wanted.spot.file;
    items.push_back(is_known ? std::prev(after)->path : at_);
  }
  return items;
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
