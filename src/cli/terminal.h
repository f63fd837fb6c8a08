#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// What the terminal can show, and the marks and colours of states. Colour and glyph only repeat
// what the word beside them says.

namespace muster::cli {

enum class ColorMode : std::uint8_t { Auto, Always, Never };

using GetEnv = std::function<std::optional<std::string>(const char*)>;
std::optional<std::string> process_env(const char* name);

struct Terminal {
  bool stdout_tty = false;
  bool stderr_tty = false;
  std::size_t stdout_width = 0;  // columns; 0: not a terminal, nothing is cut
  std::size_t stderr_width = 0;
  std::size_t stderr_height = 24;
  bool stdout_color = false;
  bool stderr_color = false;
  bool stderr_redraw = false;  // a terminal that can move its cursor
  bool utf8 = false;
};

// NO_COLOR and TERM=dumb switch colour off unless `mode` says Always.
Terminal detect_terminal(ColorMode mode, const GetEnv& env);

enum class Style : std::uint8_t { Plain, Good, Bad, Active, Waiting, Dim, Bold };

std::string paint(std::string_view text, Style style, bool color);

// Of the status of an action or the state of an agent; unknown words get the waiting mark.
std::string_view glyph_of(std::string_view status, bool utf8);
Style style_of(std::string_view status);

}  // namespace muster::cli
