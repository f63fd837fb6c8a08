#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(std::string_view condition, const std::string& message,
                  std::source_location where) {
  const std::string line = fmt::format("{}:{}: check failed: {}: {}\n", where.file_name(),
                                       where.line(), condition, message);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::abort();
}

}  // namespace muster
