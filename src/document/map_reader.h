#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace muster::document {

// What is wrong with one or several documents, up to a limit.
class Problems {
 public:
  explicit Problems(std::size_t max = 1000) : max_(max) {}

  void add(model::Place place, std::string message);
  void add(std::vector<Problem> problems);

  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  // Each once, in the order of files, lines and columns.
  std::vector<Problem> take() &&;

 private:
  std::vector<Problem> list_;
  std::size_t max_;
};

// Reads the fields of one mapping and collects everything that is wrong with them. A field that was
// never asked for is unknown; finish() reports those, with the nearest of the names that were asked
// for. Every getter answers with nothing if the field is absent or wrong; a wrong one is reported.
// An empty field (`properties:` with nothing after it) counts as an empty list or mapping, but not
// as a text.
//
// Borrows the document and the problems; lives for one call of a decoder.
class MapReader {
 public:
  // `what` names the mapping in errors: "a pack". A value that is no mapping is reported once and
  // read as an empty one.
  MapReader(const Document& document, const Value& value, std::string what, Problems& problems);

  bool has(std::string_view field);
  // The field as it is.
  const Value* value(std::string_view field);

  std::optional<std::string> text(std::string_view field);
  // Reports an absent one.
  std::string required_text(std::string_view field);
  std::optional<bool> flag(std::string_view field);
  std::optional<std::int64_t> integer(std::string_view field,
                                      std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                                      std::int64_t max = std::numeric_limits<std::int64_t>::max());
  // One of a few words; which of them.
  std::optional<std::size_t> choice(std::string_view field,
                                    std::span<const std::string_view> words);
  // A list of texts; a single text counts as a list of one.
  std::vector<std::string> texts(std::string_view field);
  const List* list(std::string_view field);
  const Map* map(std::string_view field);

  // Of the field's key, or of the mapping if the field is absent.
  model::Place place(std::string_view field) const;
  model::Place place() const { return document_.place(mark_); }

  void invalid(std::string_view field, std::string message);
  // Reports the fields that nobody asked for. To be called last.
  void finish();

 private:
  const Entry* find(std::string_view field);
  const Entry* entry(std::string_view field) const;
  void wrong_kind(const Entry& entry, std::string_view wanted);

  const Document& document_;
  const std::string what_;
  Problems& problems_;
  const Map* map_ = nullptr;  // null: no mapping
  Mark mark_;
  std::vector<std::string_view> known_;
};

// The text of a scalar; otherwise nothing, and a report that names `what`.
std::optional<std::string> read_text(const Document& document, const Value& value,
                                     std::string_view what, Problems& problems);

}  // namespace muster::document
