#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "model/declaration.h"
#include "sitefile/placeholders.h"
#include "sitefile/places.h"
#include "sitefile/text_file.h"

// Model files as operators write them, and what they declare. docs/model.md describes the format;
// model::json_schema_of() describes it to editors.

namespace muster::sitefile {

struct ReadOptions {
  // YAML and JSON: the item that is declared. XML, where the first element is an item with an id of
  // its own: what that item stands below.
  model::Path at = {};
  Values values = {};                     // of placeholders
  const model::Schema* schema = nullptr;  // null: the types are not at hand
  std::size_t bytes_max = kTextFileMax;   // of all files together
};

// What the files declare together.
struct Site {
  model::Path at;  // what `declaration` is about
  model::Declaration declaration;
  Places places;
  std::vector<std::string> unused_values;   // names that no placeholder has
  std::vector<document::Problem> problems;  // all of them, by file, line and column
  // The items that the problems are about.
  std::vector<model::Path> doubtful;

  // Otherwise the declaration lacks something, and must not be applied.
  bool good() const { return problems.empty(); }
  // Whether what is declared of this item is what was meant, as far as the problems tell: neither
  // it nor anything above or below it is doubtful.
  bool is_judgeable(const model::Path& path) const;
  // Whether that can be so of any item.
  bool is_partly_judgeable() const;
};

// Reads model files; a folder stands for its files *.yaml, *.yml and *.json, and "-" for stdin.
// Several files each declare a part of the same item; what one of them says and another one too
// must be the same. A file is XML if its name ends with .xml or its text begins with '<', and is
// only read by itself; otherwise YAML, of which JSON is a part. Blocks for as long as the files
// take.
Site read_site(const std::vector<std::string>& paths, const ReadOptions& options);

// As one file with that name and text. A function of its inputs.
Site read_site_text(std::string_view text, const std::string& name, const ReadOptions& options);

}  // namespace muster::sitefile
