#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "document/map_reader.h"

namespace muster::pack {

// A word that may have something with it: `not_empty`, or `length: 64`.
struct Word {
  std::string word;
  const document::Value* argument = nullptr;  // null: a word alone
  model::Place place;
};

// Reports what is neither, and a word that is not known.
std::optional<Word> read_word(const document::Document& file, const document::Value& value,
                              std::string_view what, std::span<const std::string_view> known,
                              document::Problems& problems);

}  // namespace muster::pack
