#pragma once

#include <string>

namespace muster::model {

// Where something was written, for errors that a person must find. Lines and columns count from 1;
// 0 means unknown, and an empty file that it did not come from one.
struct Place {
  std::string file = {};
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

// "types/node.yaml:12:3", as far as it is known.
std::string to_text(const Place& place);

}  // namespace muster::model
