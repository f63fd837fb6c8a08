#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace muster::sitefile {

struct XmlAttribute {
  std::string name;
  std::string value;
};

// An element with its place; names have their prefixes.
struct XmlElement {
  std::string name;
  document::Mark mark;
  std::vector<XmlAttribute> attributes = {};
  std::string text = {};  // all that stands directly in it, comments left out
  std::vector<XmlElement> children = {};

  // Null: it has no such attribute.
  const std::string* attribute(std::string_view wanted) const;
};

struct XmlLimits {
  std::size_t bytes_max = 100'000'000;
  std::size_t depth_max = 100;
  std::size_t elements_max = 5'000'000;
  std::size_t problems_max = 100;
};

struct ReadXmlDocument {
  XmlElement root;  // of use only if there is no problem
  std::vector<document::Problem> problems;

  bool good() const { return problems.empty(); }
};

// Reads one XML document; the one file that knows pugixml. Refused besides what is not XML: what is
// above the limits, what is not UTF-8, document types, and entities other than those that every
// XML has (a few lines of others can stand for more text than there is memory for).
//
// A function of its inputs: the file is named, not opened. Never throws.
ReadXmlDocument read_xml_document(std::string_view text, const std::string& file,
                                  const XmlLimits& limits = {});

}  // namespace muster::sitefile
