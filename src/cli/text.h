#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

// Text for terminals: how wide it is, how it is cut, and how foreign bytes are kept from acting on
// the terminal.

namespace muster::cli {

// Columns that UTF-8 text takes: combining marks none, East Asian wide characters two. An invalid
// byte counts as one.
std::size_t display_width(std::string_view text);

// Cut to at most `width` columns, with an ellipsis ("…", or "..." in ASCII) where something was cut
// and there is room for one.
std::string fit(std::string_view text, std::size_t width, bool utf8);

// Padded with spaces on the right up to `width` columns.
std::string pad(std::string_view text, std::size_t width);

// One line that is safe to print: line breaks and tabs become spaces, other control characters
// (also the C1 range, which terminals obey) become "?".
std::string printable(std::string_view text);

// The last `lines` lines, each made printable and cut to `columns` columns.
std::vector<std::string> tail_lines(std::string_view text, std::size_t lines, std::size_t columns);

// "0.4s" below ten seconds, then as format_age.
std::string format_elapsed(Duration duration);

std::vector<std::string> split(std::string_view text, char separator);

// With commas between them.
std::string joined(const std::vector<std::string>& words);

}  // namespace muster::cli
