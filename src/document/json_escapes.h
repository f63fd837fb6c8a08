#pragma once

#include <string>
#include <string_view>

namespace muster::document {

// JSON writes a character beyond U+FFFF as two escapes ("\ud83d\ude00"), which YAML does not know.
// If the text begins with '{' or '[', as JSON does, and has such pairs, the same text with the
// characters themselves; otherwise empty. Places after one in its line move to the left.
std::string join_surrogates(std::string_view text);

}  // namespace muster::document
