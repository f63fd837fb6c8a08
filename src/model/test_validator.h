#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace muster::model::testing {

// The words of JSON Schema that json_schema_of() uses, read as editors read them. Where a value is
// refused, the pointer to it and the word that refused it are kept.
class SchemaValidator {
 public:
  explicit SchemaValidator(const Json& schema) : schema_(schema) {}

  bool accepts(const Json& value) { return accepts(schema_, value, ""); }

  const std::vector<std::string>& refused() const { return refused_; }

 private:
  bool accepts(const Json& rule, const Json& value, const std::string& at);
  bool word_accepts(const Json& rule, const std::string& word, const Json& argument,
                    const Json& value, const std::string& at);
  bool object_accepts(const Json& rule, const std::string& word, const Json& argument,
                      const Json& value, const std::string& at);
  bool refuse(const std::string& at, const std::string& word);

  const Json& schema_;
  std::vector<std::string> refused_;
};

}  // namespace muster::model::testing
