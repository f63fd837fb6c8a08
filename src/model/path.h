#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::model {

inline constexpr std::size_t kItemIdMax = 255;
inline constexpr std::size_t kPathDepthMax = 64;

// Words of model files that are neither a child nor a collection there, so nothing is called so:
// "type", "inherit" and "properties".
bool is_reserved_word(std::string_view word);

// Why `id` cannot name an item, or empty if it can: letters, digits, '_' and '-'.
std::string item_id_problem(std::string_view id);

// The place of an item in the tree: "/" or "/deployments/site1/clusters/db". A value. Paths order
// as the tree is walked, each item before what is below it.
class Path {
 public:
  Path() = default;  // the root

  static Result<Path> parse(std::string_view text);

  bool is_root() const { return text_.size() == 1; }
  const std::string& text() const { return text_; }
  // The last segment; empty for the root.
  std::string_view id() const;
  // Of the root: the root.
  Path parent() const;
  // REQUIRES: item_id_problem(id) is empty.
  Path child(std::string_view id) const;
  // Itself, or below it. "/a/b" is below "/a", "/ab" is not.
  bool is_at_or_below(const Path& other) const;
  std::vector<std::string_view> segments() const;

  bool operator==(const Path&) const = default;
  std::strong_ordering operator<=>(const Path& other) const;

 private:
  explicit Path(std::string text) : text_(std::move(text)) {}

  std::string text_ = "/";
};

}  // namespace muster::model

template <>
struct std::hash<muster::model::Path> {
  std::size_t operator()(const muster::model::Path& path) const {
    return std::hash<std::string>()(path.text());
  }
};
