#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/kind/catalog.h"
#include "core/kind/field_reader.h"

// JSON text through every decoder: none may crash, and each keeps its errors bounded and below the
// pointer that it was given.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using muster::core::FieldReader;
  using muster::core::KindCatalog;
  const auto inputs = muster::parse_json({reinterpret_cast<const char*>(data), size});
  if (!inputs) return 0;
  for (const auto& kind : KindCatalog::all()) {
    const auto errors = KindCatalog::check_inputs(kind.name, *inputs, "/inputs");
    MUSTER_CHECK(errors.size() <= FieldReader::kErrorsMax, "{} has {} errors", kind.name,
                 errors.size());
    for (const auto& error : errors) {
      MUSTER_CHECK(error.pointer.starts_with("/inputs"), "{} points to {}", kind.name,
                   error.pointer);
    }
  }
  return 0;
}
