#include "document/value.h"

namespace muster::document {

std::string_view kind_words(Kind kind) {
  switch (kind) {
    case Kind::Null:
      return "nothing";
    case Kind::Text:
      return "a text";
    case Kind::Sequence:
      return "a list";
    case Kind::Mapping:
      return "a mapping";
  }
  return "nothing";
}

std::string to_text(const Problem& problem) {
  const std::string place = model::to_text(problem.place);
  return place.empty() ? problem.message : place + ": " + problem.message;
}

}  // namespace muster::document
