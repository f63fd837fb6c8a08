#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/exit_code.h"

// Why a command could not do what it was asked: an Error of our own, or a problem document from the
// controller, with the exit code that says it to a script.

namespace muster::cli {

struct FieldProblem {
  std::string pointer;
  std::string code;
  std::string detail;
  std::string path = {};      // of an item of the model
  std::string property = {};  // of that item; empty: the item itself
  std::string rule = {};      // of the planner
  std::string plugin = {};

  bool operator==(const FieldProblem&) const = default;
};

struct Failure {
  Failure() = default;
  // Implicit, so that a Result's error can be passed on by a function that answers with Outcome.
  Failure(const Error& error);  // NOLINT(google-explicit-constructor)

  ExitCode exit = ExitCode::Error;
  int http_status = 0;  // 0: not an answer of the controller
  std::string code;
  std::string detail;
  std::vector<FieldProblem> fields;
  std::string hint;
  std::string request_id;
  bool sent = true;  // false: the other side has seen nothing of the request
};

template <typename T>
class [[nodiscard]] Outcome : public tl::expected<T, Failure> {
 public:
  using tl::expected<T, Failure>::expected;
};

template <typename... Args>
tl::unexpected<Failure> usage(fmt::format_string<Args...> format, Args&&... args) {
  Failure failure(Error{ErrorCode::InvalidValue, fmt::format(format, std::forward<Args>(args)...)});
  failure.code = "usage";
  return tl::unexpected<Failure>(std::move(failure));
}

// From an answer with status 400 or above. A body that is no problem document is quoted, cut.
Failure failure_of_answer(int status, std::string_view body);

// "error: DETAIL (CODE)", one line per wrong field, then "hint: ..." where one exists. Control
// characters are made visible. Ends with a newline.
std::string render(const Failure& failure);

}  // namespace muster::cli

namespace muster {

// Lets MUSTER_TRY pass a Failure on.
inline tl::unexpected<cli::Failure> fail(cli::Failure failure) {
  return tl::unexpected<cli::Failure>(std::move(failure));
}

}  // namespace muster
