#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/router.h"

// Query::parse must survive any bytes, name every error, and only let known keys through.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using muster::http::Query;
  static const std::vector<std::string> known = {"limit", "marker", "sort", "status", "a b"};
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  const auto query = Query::parse(raw, known);
  if (!query) {
    MUSTER_CHECK(!query.error().message.empty(), "an error without a message");
    return 0;
  }
  std::size_t values = 0;
  for (const std::string& key : known) {
    const auto all = query->all(key);
    MUSTER_CHECK(query->has(key) == !all.empty(), "has() disagrees with all() on {}", key);
    MUSTER_CHECK(all.empty() || query->get(key) == all.front(), "get() is not the first value");
    values += all.size();
  }
  MUSTER_CHECK(values == 0 || size >= values, "more values than bytes");
  return 0;
}
