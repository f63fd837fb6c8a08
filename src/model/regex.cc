#include "model/regex.h"

#include <re2/re2.h>

#include "model/quoted.h"

namespace muster::model {
namespace {

constexpr std::size_t kExpressionMax = 4096;
// Of the compiled program and its caches.
constexpr std::int64_t kMemoryMax = 8 << 20;

}  // namespace

struct Regex::Compiled {
  re2::RE2 regex;
};

Regex::Regex(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
Regex::~Regex() = default;

Result<std::shared_ptr<const Regex>> Regex::compile(std::string_view expression) {
  if (expression.size() > kExpressionMax) {
    return fail(ErrorCode::InvalidValue,
                "the regular expression has {} bytes; at most {} are allowed", expression.size(),
                kExpressionMax);
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemoryMax);
  const re2::StringPiece text(expression.data(), expression.size());
  std::unique_ptr<const Compiled> compiled(new Compiled{re2::RE2(text, options)});
  if (!compiled->regex.ok()) {
    return fail(ErrorCode::InvalidValue, "{} is not a regular expression: {}", quoted(expression),
                compiled->regex.error());
  }
  return std::shared_ptr<const Regex>(new Regex(std::move(compiled)));
}

bool Regex::matches(std::string_view value) const {
  return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), compiled_->regex);
}

std::string_view Regex::expression() const { return compiled_->regex.pattern(); }

}  // namespace muster::model
