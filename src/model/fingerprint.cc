#include "model/fingerprint.h"

#include <fmt/format.h>

#include <cstdint>

namespace muster::model {
namespace {

// FNV-1a. It guards against edits that cross by accident, not against forgery.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) mix(static_cast<unsigned char>(c));
    mix(0xFF);  // never part of UTF-8, so that neighbouring texts cannot be mistaken
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(unsigned char byte) {
    value_ ^= byte;
    value_ *= 0x100000001b3;
  }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

void add(Hash& hash, const PropertiesPtr& properties) {
  if (!properties) return;
  for (const auto& [name, value] : *properties) {
    hash.add(name);
    hash.add(value);
  }
}

}  // namespace

std::string fingerprint(const Node& node) {
  const Item& item = node.item();
  Hash hash;
  hash.add(item.type->id);
  hash.add(name(item.item_class));
  hash.add(name(item.state));
  hash.add(item.determinable ? "1" : "0");
  hash.add(item.source ? item.source->text() : "");
  add(hash, node.merged());
  hash.add("applied");
  add(hash, item.applied);
  hash.add("children");
  for (const auto& child : node.children()) hash.add(child->id());
  return fmt::format("{:016x}", hash.value());
}

}  // namespace muster::model
