#pragma once

#include <span>
#include <string>
#include <string_view>

// "Did you mean": finds the known word that somebody most likely wanted to type.

namespace muster {

// The known word nearest to `word`, or empty if none is near enough to be worth naming. Insertions,
// deletions, replacements and swaps of neighbours count one each; so does a word of three or more
// bytes that was not typed to its end. Upper and lower case count as equal. Among equally near
// words the first one wins. Words of more than 64 bytes have no nearest: the cost stays bounded
// whatever a client sends.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

// "; did you mean 'timeout'?", or empty: the end of an error message.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace muster
