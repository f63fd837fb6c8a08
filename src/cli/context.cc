#include "cli/context.h"

#include <time.h>

#include <cerrno>
#include <cstdio>

#include "cli/interrupt.h"
#include "cli/yaml.h"
#include "os/clock.h"
#include "os/random.h"

namespace muster::cli {
namespace {

bool write_stream(std::FILE* stream, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return written && std::fflush(stream) == 0;
}

void system_sleep(Duration duration) {
  if (duration.us <= 0) return;
  const timespec time{duration.us / 1'000'000, duration.us % 1'000'000 * 1000};
  nanosleep(&time, nullptr);  // a signal ends it early, which is what the caller wants
}

}  // namespace

std::optional<Format> parse_format(std::string_view text) {
  if (text == "table") return Format::Table;
  if (text == "wide") return Format::Wide;
  if (text == "json") return Format::Json;
  if (text == "yaml") return Format::Yaml;
  if (text == "name") return Format::Name;
  return std::nullopt;
}

Environment process_environment() {
  return {os::system_now, system_sleep, os::system_random, interrupted, process_env};
}

Console::Console()
    : out_([](std::string_view text) { return write_stream(stdout, text); }),
      err_([](std::string_view text) { return write_stream(stderr, text); }) {}

bool Console::out(std::string_view text) {
  if (!out_closed_ && !text.empty() && !out_(text)) out_closed_ = true;
  return !out_closed_;
}

void Console::say(std::string_view text) {
  if (!quiet_) err_(text);
}

void Console::warn(std::string_view text) { err_(text); }

bool wants_document(const Context& context) {
  return context.options.format == Format::Json || context.options.format == Format::Yaml;
}

void print_document(Context& context, const Json& document) {
  if (context.options.format == Format::Yaml) {
    context.console.out(dump_yaml(document));
  } else {
    context.console.out(dump_json(document, 2) + "\n");
  }
}

}  // namespace muster::cli
