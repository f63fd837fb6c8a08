#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "document/map_reader.h"
#include "model/declaration.h"
#include "model/schema.h"

// `%%name%%` in the place of a value: what one site has differently from another, and which is
// given when the file is read. The whole value is a placeholder, never a part of it, so that a text
// may have percent signs.

namespace muster::sitefile {

// By name.
using Values = std::map<std::string, std::string, std::less<>>;

// The name of the placeholder that `value` is; nothing: it is none.
std::optional<std::string_view> placeholder_name(std::string_view value);

// "name=value", as it is given at the command line.
Result<std::pair<std::string, std::string>> parse_setting(std::string_view text);

// A mapping of names to texts, in YAML or JSON. Reported: everything that is not as said.
Values read_values_text(std::string_view text, const std::string& file,
                        document::Problems& problems);
Values read_values(const std::string& path, document::Problems& problems);

// Puts values in the place of placeholders. Borrows both; lives for one reading.
class Placeholders {
 public:
  Placeholders(const Values& values, document::Problems& problems)
      : values_(values), problems_(problems) {}

  struct Found {
    model::Path path;
    std::string property;
    std::string name;
    model::Place place;
  };

  // The value that `text` stands for: itself, if it is no placeholder. One without a value is
  // reported. `found` is asked for what the text belongs to, only where it is a placeholder.
  template <typename FoundFunction>
  std::string resolve(std::string text, FoundFunction found) {
    const std::optional<std::string_view> name = placeholder_name(text);
    if (!name) return text;
    return resolve_found(found(std::string(*name)));
  }

  const std::vector<Found>& found() const { return found_; }
  // Names with a value that no placeholder asked for.
  std::vector<std::string> unused() const;

 private:
  std::string resolve_found(Found found);

  const Values& values_;
  document::Problems& problems_;
  std::vector<Found> found_;
  std::set<std::string, std::less<>> used_;
};

// Reports placeholders of properties that the types do not call site_specific. What the types do
// not know, and what stands below an item of an unknown type, is left to whoever applies the file.
void check_site_specific(const std::vector<Placeholders::Found>& found, const model::Path& at,
                         const model::Declaration& declaration, const model::Schema& schema,
                         document::Problems& problems);

}  // namespace muster::sitefile
