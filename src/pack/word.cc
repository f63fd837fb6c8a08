#include "pack/word.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::pack {

std::optional<Word> read_word(const document::Document& file, const document::Value& value,
                              std::string_view what, std::span<const std::string_view> known,
                              document::Problems& problems) {
  Word word;
  word.place = file.place(value.mark);
  if (const document::Scalar* scalar = value.scalar()) {
    word.word = scalar->text;
  } else if (const document::Map* map = value.map(); map != nullptr && map->size() == 1) {
    word.word = map->front().key;
    word.argument = &map->front().value;
    word.place = file.place(map->front().mark);
  } else {
    problems.add(word.place, fmt::format("{} is a word, or a mapping with one key", what));
    return std::nullopt;
  }
  if (std::find(known.begin(), known.end(), word.word) == known.end()) {
    problems.add(word.place, fmt::format("{} is no {}{}", model::quoted(word.word), what,
                                         did_you_mean(word.word, known)));
    return std::nullopt;
  }
  return word;
}

}  // namespace muster::pack
