#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "document/map_reader.h"
#include "document/reader.h"

namespace {

using muster::document::Document;
using muster::document::Value;

// Counts the values, and checks that each has a place.
std::size_t walk(const Value& value, std::size_t depth) {
  MUSTER_CHECK(depth <= 20, "deeper than the limit");
  MUSTER_CHECK(value.mark.line >= 1 && value.mark.column >= 1, "a value without a place");
  std::size_t count = 1;
  if (const auto* list = value.list()) {
    for (const Value& item : *list) count += walk(item, depth + 1);
  }
  if (const auto* map = value.map()) {
    for (const auto& entry : *map) {
      MUSTER_CHECK(entry.mark.line >= 1, "a key without a place");
      count += 1 + walk(entry.value, depth + 1);
    }
  }
  return count;
}

}  // namespace

// Any bytes are read or refused with a place and a reason, within the limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const muster::document::Limits limits{
      .bytes_max = 100'000, .depth_max = 20, .values_max = 10'000, .problems_max = 10};
  const auto read = muster::document::read_document(text, "fuzz", limits);
  MUSTER_CHECK(read.problems.size() <= limits.problems_max, "more problems than the limit");
  for (const auto& problem : read.problems) {
    MUSTER_CHECK(!problem.message.empty(), "a problem without words");
  }
  if (!read.good()) return 0;
  MUSTER_CHECK(walk(read.document.root, 0) <= limits.values_max, "more values than the limit");

  muster::document::Problems problems;
  muster::document::MapReader reader(read.document, read.document.root, "a thing", problems);
  reader.required_text("name");
  reader.flag("flag");
  reader.integer("number", -5, 5);
  reader.texts("texts");
  reader.list("list");
  reader.map("map");
  reader.finish();
  return 0;
}
