#include "model/path.h"

#include <algorithm>
#include <array>

namespace muster::model {
namespace {

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

constexpr std::array<std::string_view, 3> kReserved = {"type", "inherit", "properties"};

// The separator comes before every other character, so that a subtree stands together.
int rank(char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; }

}  // namespace

bool is_reserved_word(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

std::string item_id_problem(std::string_view id) {
  if (id.empty()) return "an item's id may not be empty";
  if (id.size() > kItemIdMax) {
    return fmt::format("an item's id has {} characters; at most {} are allowed", id.size(),
                       kItemIdMax);
  }
  if (!std::all_of(id.begin(), id.end(), is_id_character)) {
    return fmt::format("'{}' is not an item's id; letters, digits, '_' and '-' are allowed", id);
  }
  if (is_reserved_word(id)) {
    return fmt::format("'{}' is not an item's id; the word means something else in model files",
                       id);
  }
  return {};
}

Result<Path> Path::parse(std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return fail(ErrorCode::InvalidValue, "'{}' is not a path; a path begins with '/'", text);
  }
  if (text.size() == 1) return Path();
  std::size_t depth = 0;
  for (std::size_t from = 1; from <= text.size();) {
    const std::size_t end = std::min(text.find('/', from), text.size());
    const std::string_view id = text.substr(from, end - from);
    if (const std::string problem = item_id_problem(id); !problem.empty()) {
      return fail(ErrorCode::InvalidValue, "'{}' is not a path: {}", text, problem);
    }
    if (++depth > kPathDepthMax) {
      return fail(ErrorCode::InvalidValue, "a path has at most {} segments", kPathDepthMax);
    }
    from = end + 1;
  }
  return Path(std::string(text));
}

std::string_view Path::id() const { return std::string_view(text_).substr(text_.rfind('/') + 1); }

Path Path::parent() const {
  const std::size_t slash = text_.rfind('/');
  return slash == 0 ? Path() : Path(text_.substr(0, slash));
}

Path Path::child(std::string_view id) const {
  std::string text = is_root() ? std::string() : text_;
  text.reserve(text.size() + 1 + id.size());
  text += '/';
  text += id;
  return Path(std::move(text));
}

bool Path::is_at_or_below(const Path& other) const {
  if (other.is_root()) return true;
  return text_.starts_with(other.text_) &&
         (text_.size() == other.text_.size() || text_[other.text_.size()] == '/');
}

std::vector<std::string_view> Path::segments() const {
  std::vector<std::string_view> segments;
  if (is_root()) return segments;
  const std::string_view text = text_;
  for (std::size_t from = 1; from <= text.size();) {
    const std::size_t end = std::min(text.find('/', from), text.size());
    segments.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return segments;
}

std::strong_ordering Path::operator<=>(const Path& other) const {
  if (is_root() || other.is_root()) return text_.size() <=> other.text_.size();
  const auto [mine, theirs] =
      std::mismatch(text_.begin(), text_.end(), other.text_.begin(), other.text_.end());
  if (mine == text_.end() || theirs == other.text_.end()) {
    return text_.size() <=> other.text_.size();
  }
  return rank(*mine) <=> rank(*theirs);
}

}  // namespace muster::model
