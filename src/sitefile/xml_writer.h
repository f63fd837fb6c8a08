#pragma once

#include <string>
#include <vector>

#include "model/declaration.h"
#include "model/tree.h"

namespace muster::sitefile {

struct WrittenXml {
  std::string text;                       // of use only if there is no error
  std::vector<model::ModelError> errors;  // values with characters that XML has no words for

  bool good() const { return errors.empty(); }
};

// The items at and below `node` as LITP's XML, which tells items from collections by the names of
// elements. What waits for removal is left out, and so is what `detail` says. Read back, it
// declares the same items.
WrittenXml write_xml(const model::Node& node, model::Detail detail);

}  // namespace muster::sitefile
