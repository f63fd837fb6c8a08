#include "base/field_errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace muster {

Error gather(std::vector<FieldError> errors) {
  MUSTER_CHECK(!errors.empty(), "an error without anything wrong");
  const bool alike = std::all_of(errors.begin(), errors.end(), [&](const FieldError& each) {
    return each.code == errors.front().code;
  });
  std::string message = errors.front().detail;
  if (errors.size() > 1) {
    message = fmt::format("{} fields are wrong, the first: {}", errors.size(), message);
  }
  const ErrorCode code = alike ? errors.front().code : ErrorCode::InvalidRequest;
  return {code, std::move(message), std::move(errors)};
}

}  // namespace muster
