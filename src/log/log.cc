#include "log/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "base/json.h"

namespace muster::log {

namespace {

// The JSON pattern leaves the members after "level" to the payload.
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %^%-5*%$ %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%*",%v})";

// `%*`: our names of the levels, which are also those that parse_level() takes. spdlog's own `%l`
// says "warning".
class LevelName final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& line, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view name = line.level == spdlog::level::debug  ? "debug"
                                  : line.level == spdlog::level::info ? "info"
                                  : line.level == spdlog::level::warn ? "warn"
                                                                      : "error";
    out.append(name.data(), name.data() + name.size());
    // spdlog leaves the padding of a custom flag to the flag.
    for (std::size_t n = name.size(); n < padinfo_.width_; ++n) out.push_back(' ');
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

struct State {
  Format format;
  std::unique_ptr<spdlog::logger> logger;
};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warn:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::unique_ptr<State> make_state(const Options& options) {
  using Sink = spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>;
  // An empty NO_COLOR counts as not set, as no-color.org says.
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = options.format == Format::Json || (no_color != nullptr && no_color[0] != '\0');
  auto sink =
      std::make_shared<Sink>(options.stream != nullptr ? options.stream : stderr,
                             plain ? spdlog::color_mode::never : spdlog::color_mode::automatic);
  auto state = std::make_unique<State>();
  state->format = options.format;
  state->logger = std::make_unique<spdlog::logger>("muster", std::move(sink));
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<LevelName>('*').set_pattern(options.format == Format::Json ? kJsonPattern
                                                                                 : kTextPattern);
  state->logger->set_formatter(std::move(formatter));
  state->logger->set_level(to_spdlog(options.level));
  state->logger->flush_on(spdlog::level::trace);
  state->logger->set_error_handler([](const std::string&) {});
  return state;
}

// Readers take the pointer without a lock, so replaced states stay alive until the process ends.
class States {
 public:
  States() { replace({}); }

  void replace(const Options& options) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(make_state(options));
    current_.store(kept_.back().get(), std::memory_order_release);
  }
  const State& current() const { return *current_.load(std::memory_order_acquire); }

 private:
  std::atomic<const State*> current_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<State>> kept_;
};

States& states() {
  // Never destroyed: threads may log while the process exits.
  static auto* instance = new States;
  return *instance;
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '=' || c == '"' || c == '\\') return true;
  }
  return false;
}

void append_text(std::string& out, std::string_view text) {
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        // A terminal must not be steered by what a log line quotes.
        if (byte < 0x20 || byte == 0x7f) {
          fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_text_value(std::string& out, const Value& value) {
  std::visit(
      [&out](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>) {
          append_text(out, held);
        } else {
          fmt::format_to(std::back_inserter(out), "{}", held);
        }
      },
      value.get());
}

void append_json_value(std::string& out, const Value& value) {
  std::visit([&out](const auto& held) { out += dump_json(Json(held)); }, value.get());
}

std::string text_payload(std::string_view message, Fields fields) {
  std::string out(message);
  for (const Field& field : fields) {
    out += ' ';
    append_text(out, field.key);
    out += '=';
    append_text_value(out, field.value);
  }
  return out;
}

std::string json_payload(std::string_view message, Fields fields) {
  std::string out = "\"message\":";
  append_json_value(out, message);
  for (const Field& field : fields) {
    out += ',';
    append_json_value(out, field.key);
    out += ':';
    append_json_value(out, field.value);
  }
  return out;
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  if (text == "debug") return Level::Debug;
  if (text == "info") return Level::Info;
  if (text == "warn") return Level::Warn;
  if (text == "error") return Level::Error;
  return fail(ErrorCode::InvalidValue, "log level \"{}\" is not one of debug, info, warn, error",
              text);
}

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::Text;
  if (text == "json") return Format::Json;
  return fail(ErrorCode::InvalidValue, "log format \"{}\" is not one of text, json", text);
}

void init(const Options& options) { states().replace(options); }

bool enabled(Level level) { return states().current().logger->should_log(to_spdlog(level)); }

void write(Level level, Message message, Fields fields) {
  const State& state = states().current();
  const auto spdlog_level = to_spdlog(level);
  if (!state.logger->should_log(spdlog_level)) return;
  try {
    const std::string payload = state.format == Format::Json ? json_payload(message.text(), fields)
                                                             : text_payload(message.text(), fields);
    state.logger->log(spdlog_level, spdlog::string_view_t(payload));
  } catch (...) {
    // The header promises that a line is dropped rather than its caller failed.
  }
}

}  // namespace muster::log
