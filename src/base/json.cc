#include "base/json.h"

#include <algorithm>
#include <set>
#include <vector>

namespace muster {
namespace {

// The keys of one object. Most objects have a few, for which looking at each is faster than a tree,
// and costs no allocation once the list has grown.
class Keys {
 public:
  void clear() {
    few_.clear();
    many_.clear();
  }
  // False: it was there.
  bool insert(const std::string& key) {
    if (!many_.empty()) return many_.insert(key).second;
    if (std::find(few_.begin(), few_.end(), key) != few_.end()) return false;
    few_.push_back(key);
    if (few_.size() > kFew) many_.insert(few_.begin(), few_.end());
    return true;
  }

 private:
  static constexpr std::size_t kFew = 24;

  std::vector<std::string> few_;
  std::set<std::string> many_;
};

// Builds the document while it watches depth and duplicate keys; nlohmann's own parser stops as
// soon as a handler answers false.
class LimitedBuilder : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

  LimitedBuilder(Json& document, const JsonLimits& limits)
      : Base(document, false), limits_(limits) {}

  bool start_object(std::size_t size) {
    if (++objects_ > keys_.size()) keys_.emplace_back();
    keys_[objects_ - 1].clear();
    return enter() && Base::start_object(size);
  }
  bool end_object() {
    --objects_;
    --depth_;
    return Base::end_object();
  }
  bool start_array(std::size_t size) { return enter() && Base::start_array(size); }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }
  bool key(std::string& text) {
    if (!keys_[objects_ - 1].insert(text)) {
      problem_ = fmt::format("the key '{}' stands twice in one object", text.substr(0, 64));
      return false;
    }
    return Base::key(text);
  }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) {
    constexpr int kNumberOutOfRange = 406;  // of nlohmann's exceptions
    if (problem_.empty()) {
      problem_ =
          error.id == kNumberOutOfRange
              ? fmt::format("the number '{}' at byte {} is too large", last_token.substr(0, 64),
                            position)
              : fmt::format("not JSON: at byte {}, near '{}'", position, last_token.substr(0, 64));
    }
    return Base::parse_error(position, last_token, error);
  }

  const std::string& problem() const { return problem_; }
  bool too_deep() const { return depth_ > limits_.depth_max; }

 private:
  bool enter() {
    if (++depth_ <= limits_.depth_max) return true;
    problem_ = fmt::format("nested too deep, at most {} levels are allowed", limits_.depth_max);
    return false;
  }

  const JsonLimits& limits_;
  std::size_t depth_ = 0;
  std::vector<Keys> keys_;   // of the objects that are open, and room for more
  std::size_t objects_ = 0;  // that are open
  std::string problem_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return fail(ErrorCode::BodyTooLarge, "the text has {} bytes, at most {} are allowed",
                text.size(), limits.bytes_max);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(ErrorCode::InvalidJson, "there is no JSON: the text is empty");
  }
  Json root;
  LimitedBuilder builder(root, limits);
  const bool parsed = Json::sax_parse(text.begin(), text.end(), &builder);
  if (!parsed || !builder.problem().empty() || root.is_discarded()) {
    return fail(builder.too_deep() ? ErrorCode::JsonTooDeep : ErrorCode::InvalidJson, "{}",
                builder.problem().empty() ? "not JSON" : builder.problem());
  }
  return root;
}

std::string dump_json(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster
