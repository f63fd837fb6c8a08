#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace muster::document {

struct Limits {
  std::size_t bytes_max = 100'000'000;
  std::size_t depth_max = 100;
  std::size_t values_max = 10'000'000;
  std::size_t scalar_bytes_max = 4'000'000;
  std::size_t problems_max = 100;
};

struct ReadDocument {
  Document document;              // of use only if there is no problem
  std::vector<Problem> problems;  // in the order of the text

  bool good() const { return problems.empty(); }
};

// Reads one YAML document; JSON is YAML too. Refused besides what is not YAML: what is above the
// limits, a key that stands twice or is no scalar, anchors and aliases (a few lines of them can
// stand for more values than there is memory for), explicit tags, more than one document, and bytes
// that are not UTF-8. A text that breaks the syntax or a limit has one problem, since nothing after
// it can be trusted; of the other problems all are told, up to a limit. An empty text is a Null.
//
// A function of its inputs: the file is named, not opened. Never throws.
ReadDocument read_document(std::string_view text, std::string file, const Limits& limits = {});

}  // namespace muster::document
