#include "cli/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace muster::cli {
namespace {

constexpr std::size_t kDefaultWidth = 80;
constexpr std::size_t kWidthMin = 20;  // below this nothing readable fits

std::size_t columns_of(const GetEnv& env) {
  const std::optional<std::string> columns = env("COLUMNS");
  std::size_t width = 0;
  if (columns) std::from_chars(columns->data(), columns->data() + columns->size(), width);
  return width;
}

struct Size {
  std::size_t width = 0;
  std::size_t height = 0;
};

Size size_of(int fd, const GetEnv& env) {
  winsize window{};
  Size size;
  if (ioctl(fd, TIOCGWINSZ, &window) == 0) size = {window.ws_col, window.ws_row};
  if (size.width == 0) size.width = columns_of(env);
  if (size.width == 0) size.width = kDefaultWidth;
  if (size.width < kWidthMin) size.width = kWidthMin;
  if (size.height == 0) size.height = 24;
  return size;
}

struct Mark {
  std::string_view status;
  std::string_view utf8;
  std::string_view ascii;
  Style style;
};

constexpr std::array<Mark, 9> kMarks = {{
    {"SUCCEEDED", "✔", "+", Style::Good},
    {"DONE", "✔", "+", Style::Good},
    {"FAILED", "✖", "x", Style::Bad},
    {"LOST", "✖", "!", Style::Bad},
    {"CANCELLED", "⊘", "-", Style::Waiting},
    {"SUSPENDED", "‖", "=", Style::Waiting},
    {"RUNNING", "●", "*", Style::Active},
    {"online", "●", "*", Style::Good},
    {"offline", "✖", "x", Style::Bad},
}};

const Mark* find_mark(std::string_view status) {
  for (const Mark& mark : kMarks) {
    if (mark.status == status) return &mark;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> process_env(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Terminal detect_terminal(ColorMode mode, const GetEnv& env) {
  Terminal terminal;
  terminal.stdout_tty = isatty(STDOUT_FILENO) == 1;
  terminal.stderr_tty = isatty(STDERR_FILENO) == 1;
  const bool dumb = env("TERM").value_or("dumb") == "dumb";
  const bool no_color = !env("NO_COLOR").value_or("").empty() || dumb;
  const auto color = [&](bool tty) {
    return mode == ColorMode::Always || (mode == ColorMode::Auto && tty && !no_color);
  };
  terminal.stdout_color = color(terminal.stdout_tty);
  terminal.stderr_color = color(terminal.stderr_tty);
  if (terminal.stdout_tty) terminal.stdout_width = size_of(STDOUT_FILENO, env).width;
  if (terminal.stderr_tty) {
    const Size size = size_of(STDERR_FILENO, env);
    terminal.stderr_width = size.width;
    terminal.stderr_height = size.height;
    terminal.stderr_redraw = !dumb;
  }
  const char* codeset = nl_langinfo(CODESET);
  terminal.utf8 = codeset != nullptr && std::string_view(codeset) == "UTF-8";
  return terminal;
}

std::string paint(std::string_view text, Style style, bool color) {
  std::string_view code;
  switch (style) {
    case Style::Plain:
      break;
    case Style::Good:
      code = "32";
      break;
    case Style::Bad:
      code = "31";
      break;
    case Style::Active:
      code = "36";
      break;
    case Style::Waiting:
      code = "33";
      break;
    case Style::Dim:
      code = "2";
      break;
    case Style::Bold:
      code = "1";
      break;
  }
  if (!color || code.empty() || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string_view glyph_of(std::string_view status, bool utf8) {
  const Mark* mark = find_mark(status);
  if (mark == nullptr) return utf8 ? "◌" : ".";
  return utf8 ? mark->utf8 : mark->ascii;
}

Style style_of(std::string_view status) {
  const Mark* mark = find_mark(status);
  return mark == nullptr ? Style::Plain : mark->style;
}

}  // namespace muster::cli
