#pragma once

#include <fmt/format.h>

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace muster {

// The answer of everything that can fail for an expected reason. Unlike tl::expected it must not be
// ignored. Use MUSTER_TRY / MUSTER_TRY_ASSIGN to pass an error on.
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

template <typename... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace muster

#define MUSTER_CONCAT_INNER(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, if it has one.
#define MUSTER_TRY(expression)                              \
  do {                                                      \
    if (auto muster_try = (expression); !muster_try) {      \
      return ::muster::fail(std::move(muster_try.error())); \
    }                                                       \
  } while (false)

// MUSTER_TRY_ASSIGN(auto value, expression);
#define MUSTER_TRY_ASSIGN(declaration, expression) \
  MUSTER_TRY_ASSIGN_INNER(MUSTER_CONCAT(muster_try_, __LINE__), declaration, expression)
#define MUSTER_TRY_ASSIGN_INNER(temporary, declaration, expression)    \
  auto temporary = (expression);                                       \
  if (!temporary) return ::muster::fail(std::move(temporary.error())); \
  declaration = std::move(*temporary)
