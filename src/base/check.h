#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>
#include <string_view>

// MUSTER_CHECK guards what cannot happen unless the program itself is wrong. It stays on in
// release builds and aborts with the values: going on with a broken invariant could start an
// effect twice. Expected failures (bad input, network, disk) are Result, never a check.

namespace muster {

[[noreturn]] void check_failed(std::string_view condition, const std::string& message,
                               std::source_location where);

}  // namespace muster

#define MUSTER_CHECK(condition, ...)                                 \
  do {                                                               \
    if (!(condition)) [[unlikely]] {                                 \
      ::muster::check_failed(#condition, ::fmt::format(__VA_ARGS__), \
                             std::source_location::current());       \
    }                                                                \
  } while (false)
