#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/edit.h"
#include "model/test_types.h"
#include "sitefile/site.h"
#include "sitefile/xml_document.h"
#include "sitefile/xml_writer.h"

namespace {

using muster::model::Declaration;
using muster::sitefile::XmlElement;

void walk(const XmlElement& element, std::size_t depth, std::size_t depth_max) {
  MUSTER_CHECK(depth <= depth_max, "deeper than the limit");
  MUSTER_CHECK(element.mark.line >= 1 && element.mark.column >= 1, "an element without a place");
  for (const XmlElement& child : element.children) walk(child, depth + 1, depth_max);
}

void check(const Declaration& declaration) {
  for (const auto& [id, child] : declaration.children) {
    MUSTER_CHECK(muster::model::item_id_problem(id).empty(), "an item with a wrong id");
    check(child);
  }
}

// What was accepted comes back unchanged when it is written and read again.
void check_round_trip(const muster::sitefile::Site& site, const muster::model::Schema& schema) {
  muster::model::Tree tree = muster::model::empty_model(schema);
  const auto made =
      muster::model::apply(tree, schema, site.at, site.declaration, muster::model::Prune::Nothing);
  const muster::model::Node* node = tree.find(site.at);
  if (!made.ok() || node == nullptr) return;
  const auto written = muster::sitefile::write_xml(*node, muster::model::Detail::Full);
  MUSTER_CHECK(written.good(), "a value that was read cannot be written");
  muster::sitefile::ReadOptions options;
  options.at = site.at.parent();
  options.schema = &schema;
  const auto again = muster::sitefile::read_site_text(written.text, "again.xml", options);
  if (!again.good()) {
    // A given value may look like a placeholder, which is then asked for.
    for (const auto& problem : again.problems) {
      MUSTER_CHECK(problem.message.starts_with("the placeholder"), "{}", problem.message);
    }
    return;
  }
  const auto unchanged = muster::model::apply(tree, schema, again.at, again.declaration,
                                              muster::model::Prune::Nothing);
  MUSTER_CHECK(unchanged.ok() && unchanged.changes.empty(), "another model came back");
}

}  // namespace

// Any bytes are read as LITP's XML or refused with places and reasons, within the limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const muster::model::SchemaPtr kSchema = muster::model::testing::test_schema();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const muster::sitefile::XmlLimits limits{
      .bytes_max = 100'000, .depth_max = 20, .elements_max = 1'000, .problems_max = 10};
  const auto read = muster::sitefile::read_xml_document(text, "fuzz.xml", limits);
  MUSTER_CHECK(read.problems.size() <= limits.problems_max, "more problems than the limit");
  if (read.good()) walk(read.root, 1, limits.depth_max);

  muster::sitefile::ReadOptions options;
  options.values = {{"a", "1"}, {"b", "%%b%%"}};
  options.schema = kSchema.get();
  const auto site = muster::sitefile::read_site_text(text, "fuzz.xml", options);
  for (const auto& problem : site.problems) {
    MUSTER_CHECK(!problem.message.empty() && problem.place.file == "fuzz.xml", "a bare problem");
  }
  if (!site.good()) return 0;
  check(site.declaration);
  check_round_trip(site, *kSchema);
  return 0;
}
