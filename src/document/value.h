#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/place.h"

// What a YAML or JSON text says, before anybody has decided what it means: a tree of scalars, lists
// and maps, each with the place where it stands. Scalars stay text, so that `yes`, `0755` and
// `1.10` are what was written.

namespace muster::document {

// Of a value or a key in its file; both count from 1.
struct Mark {
  std::int32_t line = 0;
  std::int32_t column = 0;

  bool operator==(const Mark&) const = default;
};

struct Value;
struct Entry;

struct Scalar {
  std::string text;
  bool quoted = false;  // in quotes, or a block of text

  bool operator==(const Scalar&) const = default;
};
using List = std::vector<Value>;
using Map = std::vector<Entry>;  // in the order of the text; no key stands twice

enum class Kind : std::uint8_t { Null, Text, Sequence, Mapping };

struct Value {
  // Null: nothing stands there, or an unquoted `null` or `~`.
  std::variant<std::monostate, Scalar, List, Map> data;
  Mark mark;

  Kind kind() const { return static_cast<Kind>(data.index()); }
  const Scalar* scalar() const { return std::get_if<Scalar>(&data); }
  const List* list() const { return std::get_if<List>(&data); }
  const Map* map() const { return std::get_if<Map>(&data); }
};

struct Entry {
  std::string key;
  Mark mark;  // of the key
  Value value;
};

// "nothing", "a text", "a list", "a mapping".
std::string_view kind_words(Kind kind);

// A whole file.
struct Document {
  std::string file;  // as it is named in errors
  Value root;

  model::Place place(const Mark& mark) const { return {file, mark.line, mark.column}; }
};

// What is wrong with a document, and where.
struct Problem {
  model::Place place;
  std::string message;

  bool operator==(const Problem&) const = default;
};

// "types/node.yaml:12:3: unknown field 'typ'; did you mean 'type'?"
std::string to_text(const Problem& problem);

}  // namespace muster::document
