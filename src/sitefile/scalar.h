#pragma once

#include <string>
#include <string_view>

// Texts as they stand in YAML, JSON and XML. What is not UTF-8 is replaced, character by character.

namespace muster::sitefile {

// In double quotes, with escapes that JSON and YAML have in common. Everything stays on one line.
std::string json_quoted(std::string_view text);

// As a person would write it in YAML: plain where it means the same, otherwise in quotes. `flow`:
// within braces.
std::string yaml_scalar(std::string_view text, bool flow);

// Whether YAML can show the text as a block of lines (`|`).
bool is_block(std::string_view text);

// The content of an XML element or, as nothing in it ends either, an attribute.
std::string xml_escaped(std::string_view text);

// Whether XML has words for all of it: of the control characters only tabs and line ends.
bool is_xml_text(std::string_view text);

}  // namespace muster::sitefile
