#include "bench/submission.h"

#include <fmt/format.h>

#include <iterator>

#include "bench/emulated_fleet.h"

namespace muster::bench {

std::string noops_body(std::size_t first, std::size_t count, std::size_t agents) {
  std::string body = R"({"actions":[)";
  for (std::size_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(body), R"({}{{"action":"noop","target":"{}"}})",
                   i == 0 ? "" : ",", EmulatedFleet::name((first + i) % agents));
  }
  return body + "]}";
}

}  // namespace muster::bench
