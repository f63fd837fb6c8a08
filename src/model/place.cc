#include "model/place.h"

#include <fmt/format.h>

namespace muster::model {

std::string to_text(const Place& place) {
  if (place.line == 0) return place.file;
  if (place.column == 0) return fmt::format("{}:{}", place.file, place.line);
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

}  // namespace muster::model
