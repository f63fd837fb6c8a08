#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cli/failure.h"
#include "cli/terminal.h"

// What every command is given: the global options, the streams and the outside world. Tests give
// their own streams, clock and network.

namespace muster::cli {

enum class Format : std::uint8_t { Table, Wide, Json, Yaml, Name };

std::optional<Format> parse_format(std::string_view text);

struct GlobalOptions {
  std::string addr;  // empty: the default of address.h
  Format format = Format::Table;
  bool no_headers = false;
  ColorMode color = ColorMode::Auto;
  bool quiet = false;

  bool is_table() const { return format == Format::Table || format == Format::Wide; }
};

struct Environment {
  std::function<Timestamp()> now;
  std::function<void(Duration)> sleep;  // may return early when interrupted
  std::function<std::uint64_t()> random;
  std::function<bool()> interrupted;  // Ctrl-C was pressed
  GetEnv env;
};

Environment process_environment();

// Data goes to stdout, words to stderr.
class Console {
 public:
  using Sink = std::function<bool(std::string_view)>;  // false: nobody reads any more

  // Writes to the process's streams.
  Console();
  Console(Sink out, Sink err) : out_(std::move(out)), err_(std::move(err)) {}

  // Data. Answers with false when stdout is closed, so that a command that streams can end.
  bool out(std::string_view text);
  // Words for people, silenced by --quiet.
  void say(std::string_view text);
  // Words that must not be missed.
  void warn(std::string_view text);

  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool out_closed() const { return out_closed_; }

 private:
  Sink out_;
  Sink err_;
  bool quiet_ = false;
  bool out_closed_ = false;
};

struct Context {
  GlobalOptions options;
  Terminal terminal;
  Console console;
  Environment environment = process_environment();
  std::vector<std::string> trailing;  // the words after "--"
  bool has_trailing = false;
  bool takes_trailing = false;  // set by the command that was asked for
  // What was asked for; set while the command line is read, called once it is read whole.
  std::function<Outcome<ExitCode>()> command;
};

// Whether -o asks for the answer itself rather than for words about it.
bool wants_document(const Context& context);
// Prints an answer of the API as JSON or YAML.
// REQUIRES: wants_document().
void print_document(Context& context, const Json& document);

}  // namespace muster::cli
