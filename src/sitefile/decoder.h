#pragma once

#include <string>
#include <vector>

#include "document/map_reader.h"
#include "document/value.h"
#include "model/declaration.h"
#include "sitefile/placeholders.h"
#include "sitefile/places.h"

// Makes declarations of values. Internal to reading; no I/O.

namespace muster::sitefile {

class Decoder {
 public:
  // Borrows all of them. Adds to what the declaration has already; a part that says otherwise than
  // one before it is a problem that names both places.
  Decoder(const model::Path& at, model::Declaration& declaration, Places& places,
          Placeholders& placeholders, document::Problems& problems)
      : at_(at),
        declaration_(declaration),
        places_(places),
        placeholders_(placeholders),
        problems_(problems) {}

  // Takes the texts out of the document.
  void decode(document::Document& file);

 private:
  void decode_item(document::Map& map, model::Declaration& into, Places::Node& node);
  void decode_child(document::Entry& entry, model::Declaration& into, Places::Node& node);
  void decode_type(document::Entry& entry, model::Declaration& into, Places::Node& node);
  void decode_inherit(document::Entry& entry, model::Declaration& into, Places::Node& node);
  void decode_properties(document::Entry& entry, model::Declaration& into, Places::Node& node);
  void decode_property(document::Entry& entry, model::Declaration& into, Places::Node& node);
  // Whether the entry is no child but a reserved word, misspelt. Reported if so.
  bool is_misspelt(const document::Entry& entry);
  // A text that must be there; null, and a report, otherwise.
  document::Scalar* text_of(document::Entry& entry, std::string_view what);
  // Reports that `first` and `second` differ.
  void differ(std::string_view what, const Places::Spot& first, const std::string& first_value,
              const Places::Spot& second, const std::string& second_value);

  std::string path_text() const;
  model::Path path() const;
  Places::Spot spot(const document::Mark& mark) const { return {file_, mark.line, mark.column}; }
  model::Place place(const document::Mark& mark) const { return places_.place(spot(mark)); }

  const model::Path& at_;
  model::Declaration& declaration_;
  Places& places_;
  Placeholders& placeholders_;
  document::Problems& problems_;

  std::uint32_t file_ = 0;
  std::vector<const std::string*> ids_;  // from `at` down to the item that is decoded
};

}  // namespace muster::sitefile
