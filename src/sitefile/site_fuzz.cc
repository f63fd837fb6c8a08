#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sitefile/site.h"
#include "sitefile/writer.h"

namespace {

using muster::sitefile::Site;

// Values that look like placeholders stand for themselves.
void collect(const muster::model::Declaration& declaration, muster::sitefile::Values& values) {
  for (const auto& [name, value] : declaration.properties) {
    if (const auto found = muster::sitefile::placeholder_name(value)) values.emplace(*found, value);
  }
  for (const auto& [id, child] : declaration.children) collect(child, values);
}

void check_comes_back(const Site& site, std::string_view text) {
  muster::sitefile::ReadOptions options;
  collect(site.declaration, options.values);
  const Site again = muster::sitefile::read_site_text(text, "again.yaml", options);
  MUSTER_CHECK(again.good(), "{}", to_text(again.problems.front()));
  MUSTER_CHECK(again.declaration == site.declaration, "something else came back");
}

}  // namespace

// Any bytes are read as a model file or refused with places and reasons; what was read comes back
// unchanged when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::sitefile::ReadOptions options;
  options.values = {{"a", "1"}, {"b", "%%b%%"}};
  const Site site = muster::sitefile::read_site_text(text, "fuzz.yaml", options);
  for (const auto& problem : site.problems) {
    MUSTER_CHECK(!problem.message.empty() && problem.place.file == "fuzz.yaml", "a bare problem");
  }
  if (!site.good()) return 0;
  MUSTER_CHECK(site.places.find(site.at).line > 0, "a root without a place");
  // A name that no pack would allow may be longer than a key of YAML can be.
  if (size < 500) check_comes_back(site, muster::sitefile::write_yaml(site.declaration));
  if (size < 500) check_comes_back(site, muster::sitefile::write_json(site.declaration));
  return 0;
}
