#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace muster::model {

// A regular expression over whole values. Matching takes time linear in the value, whatever the
// expression, so a pack cannot make the controller hang. The one file that knows RE2. Immutable;
// any thread may match.
class Regex {
 public:
  // Error: InvalidValue, with what is wrong with the expression.
  static Result<std::shared_ptr<const Regex>> compile(std::string_view expression);

  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  // The whole value, as if the expression stood between ^ and $.
  bool matches(std::string_view value) const;
  std::string_view expression() const;

 private:
  struct Compiled;

  explicit Regex(std::unique_ptr<const Compiled> compiled);

  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace muster::model
