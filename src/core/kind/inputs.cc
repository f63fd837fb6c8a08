#include "core/kind/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/ascii.h"
#include "base/field_errors.h"
#include "core/kind/base64.h"
#include "core/kind/field_reader.h"

namespace muster::core {
namespace {

using Problem = std::optional<std::string>;

// Linux takes 128 KiB as one argument or environment string (MAX_ARG_STRLEN), its final NUL
// included. The whole of each is held to the same bound, far below what the stack allows.
constexpr std::size_t kArgumentsMax = std::size_t{128} << 10;
constexpr std::size_t kPathMax = 4095;
constexpr std::size_t kUrlMax = 8192;
constexpr std::size_t kUserMax = 256;
constexpr std::size_t kUnitMax = 255;
// Inputs travel inside of records and messages; what is larger belongs into a file.fetch.
constexpr std::size_t kTextMax = std::size_t{1} << 20;
constexpr std::size_t kContentMax = std::size_t{2} << 20;
constexpr std::size_t kContentBase64Max = (kContentMax + 2) / 3 * 4;
constexpr std::size_t kHeadersMax = std::size_t{64} << 10;
constexpr std::uint64_t kOutputLimitMax = std::uint64_t{64} << 20;
constexpr std::uint64_t kMemoryLimitMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kMemoryLimitMax = std::uint64_t{1} << 50;

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// A token of RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_alnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

Problem check_absolute(std::string_view path) {
  if (path.starts_with('/')) return std::nullopt;
  return fmt::format("is {}, it must be an absolute path", in_quotes(path));
}

Problem check_file_path(std::string_view path) {
  if (const Problem problem = check_absolute(path)) return problem;
  if (!path.ends_with('/')) return std::nullopt;
  return fmt::format("is {}, it must name a file, not a directory", in_quotes(path));
}

// A user or group by name or number.
Problem check_account(std::string_view name) {
  const bool odd = name.starts_with('-') || std::ranges::any_of(name, [](char c) {
                     return is_control(c) || c == ' ' || c == ':' || c == '/';
                   });
  if (!odd) return std::nullopt;
  return fmt::format("is {}, it must be a name or a number", in_quotes(name));
}

Problem check_env_name(std::string_view name) {
  if (name.find('=') == std::string_view::npos) return std::nullopt;
  return "must not contain '='";
}

Problem check_octal_mode(std::string_view mode) {
  const std::string_view digits = mode.starts_with('0') && mode.size() > 1 ? mode.substr(1) : mode;
  const bool octal = !digits.empty() && digits.size() <= 4 &&
                     std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '7'; });
  if (octal) return std::nullopt;
  return fmt::format("is {}, it must be octal between 0 and 07777, like 0644", in_quotes(mode));
}

Problem check_base64(std::string_view text) {
  if (decode_base64(text)) return std::nullopt;
  return "is not base64 with its padding (RFC 4648 section 4)";
}

Problem check_sha256(std::string_view text) {
  const bool hex =
      text.size() == 64 && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      });
  if (hex) return std::nullopt;
  return fmt::format("is {}, it must be 64 hexadecimal digits", in_quotes(text));
}

Problem check_url(std::string_view url, bool file_allowed) {
  const auto wrong = [&](std::string_view right) {
    return fmt::format("is {}, {}", in_quotes(url), right);
  };
  if (std::ranges::any_of(url, [](char c) { return is_control(c) || c == ' '; })) {
    return wrong("it must not contain white space or control characters");
  }
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = in_lower_case(
      std::string(url.substr(0, scheme_end == std::string_view::npos ? 0 : scheme_end)));
  const bool is_file = scheme == "file" && file_allowed;
  if (scheme != "http" && scheme != "https" && !is_file) {
    return wrong(file_allowed ? "it must begin with http://, https:// or file://"
                              : "it must begin with http:// or https://");
  }
  const std::string_view rest = url.substr(scheme_end + 3);
  if (is_file) {
    // The host of a file URL is empty; another machine's files are not ours to name.
    if (rest.starts_with('/') && rest.size() > 1) return std::nullopt;
    return wrong("a file URL must hold an absolute path, like file:///srv/a.tar");
  }
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t user_end = authority.rfind('@');
  const std::string_view host =
      user_end == std::string_view::npos ? authority : authority.substr(user_end + 1);
  if (host.empty() || host.starts_with(':')) return wrong("it must name a host");
  return std::nullopt;
}

Problem check_header_name(std::string_view name) {
  if (!is_token(name)) return "is not an HTTP header name";
  for (const std::string_view own : {"content-length", "transfer-encoding", "connection"}) {
    const bool same = std::ranges::equal(name, own, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
    if (same) return "must not be given, it follows from the body";
  }
  return std::nullopt;
}

Problem check_header_value(std::string_view value) {
  if (std::ranges::none_of(value, [](char c) { return is_control(c) && c != '\t'; })) {
    return std::nullopt;
  }
  return "must not contain line breaks or control characters";
}

Problem check_method(std::string_view method) {
  if (is_token(method) && method.size() <= 32) return std::nullopt;
  return fmt::format("is {}, it must be an HTTP method like GET", in_quotes(method));
}

// What systemd accepts in a unit name. A leading dash would be read as an option.
Problem check_unit(std::string_view unit) {
  const bool named = !unit.starts_with('-') && !unit.starts_with('.') && !unit.starts_with('@');
  const bool clean = std::ranges::all_of(unit, [](char c) {
    return is_alnum(c) || std::string_view(":_.\\@-").find(c) != std::string_view::npos;
  });
  if (named && clean && !unit.ends_with('.')) return std::nullopt;
  return fmt::format("is {}, it must be a unit name like nginx or nginx.service", in_quotes(unit));
}

template <typename T>
void take(std::optional<T>&& read, T& into) {
  if (read) into = *std::move(read);
}

// Reports each number that stands in both lists: it cannot mean both.
void refuse_overlap(FieldReader& reader, const std::vector<int>& first,
                    std::string_view second_name, const std::vector<int>& second,
                    std::string_view first_name) {
  for (const int number : second) {
    if (std::ranges::find(first, number) == first.end()) continue;
    reader.invalid(second_name, fmt::format("{} stands in {} and in {}, it can only mean one",
                                            number, first_name, second_name));
    return;
  }
}

// The fields that file.put and file.fetch share.
template <typename Inputs>
void decode_file_attributes(FieldReader& reader, Inputs& inputs) {
  reader.require("path");
  take(reader.text("path", {.bytes_max = kPathMax}, check_file_path), inputs.path);
  take(reader.text("mode", {}, check_octal_mode), inputs.mode);
  take(reader.text("owner", {.bytes_max = kUserMax}, check_account), inputs.owner);
  take(reader.text("group", {.bytes_max = kUserMax}, check_account), inputs.group);
  take(reader.flag("create_parents"), inputs.create_parents);
}

void decode_exec_program(FieldReader& reader, ExecInputs& inputs) {
  const bool argv_given = reader.has("argv");
  const bool script_given = reader.has("script");
  if (!argv_given && !script_given) {
    reader.missing("argv", "argv or script is required, exactly one of them");
  } else if (argv_given && script_given) {
    reader.invalid("script", "script and argv exclude each other, exactly one must be given");
  }
  if (auto argv = reader.texts("argv", kArgumentsMax)) {
    if (argv->empty()) {
      reader.invalid("argv", "argv must not be empty, it begins with the program");
    } else if (argv->front().empty()) {
      reader.invalid("argv", "argv[0] must not be empty, it names the program");
    } else {
      inputs.argv = *std::move(argv);
    }
  }
  take(reader.text("script", {.bytes_max = kTextMax}), inputs.script);
  if (reader.has("interpreter") && !script_given) {
    reader.invalid("interpreter", "interpreter is only for a script");
  }
  take(reader.text("interpreter", {.bytes_max = kPathMax}, check_absolute), inputs.interpreter);
}

void decode_exec_limits(FieldReader& reader, ExecInputs& inputs) {
  take(reader.bytes("output_limit", kOutputLimitMax), inputs.output_limit);
  if (const auto limit = reader.bytes("memory_limit", kMemoryLimitMax)) {
    if (*limit != 0 && *limit < kMemoryLimitMin) {
      reader.invalid("memory_limit",
                     fmt::format("memory_limit is {} bytes, it must be at least {}, "
                                 "or 0 for none",
                                 *limit, kMemoryLimitMin));
    } else {
      inputs.memory_limit = *limit;
    }
  }
  if (auto codes = reader.numbers("success_codes", 0, 255, 256)) {
    if (codes->empty()) {
      reader.invalid("success_codes", "success_codes must not be empty");
    } else {
      inputs.success_codes = *std::move(codes);
    }
  }
  take(reader.numbers("retry_codes", 0, 255, 256), inputs.retry_codes);
  refuse_overlap(reader, inputs.success_codes, "retry_codes", inputs.retry_codes, "success_codes");
  // Agent and controller give an execution up a little after its timeout; a process that is still
  // being asked to end must be gone by then.
  take(reader.duration("grace", Duration{}, Duration::minutes(1)), inputs.grace);
}

}  // namespace

SleepInputs decode_sleep(const Json& inputs, std::string_view pointer,
                         std::vector<FieldError>& errors) {
  SleepInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  reader.require("duration");
  take(reader.duration("duration", Duration{}, Duration::days(365)), decoded.duration);
  reader.finish();
  return decoded;
}

FailInputs decode_fail(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors) {
  FailInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  take(reader.text("reason", {}), decoded.reason);
  take(reader.one_of("result", {"ERROR", "RETRY", "CANCEL", "TIMEOUT"}), decoded.result);
  reader.finish();
  return decoded;
}

HttpInputs decode_http(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors) {
  HttpInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  reader.require("url");
  take(reader.text("url", {.bytes_max = kUrlMax},
                   [](std::string_view url) { return check_url(url, false); }),
       decoded.url);
  take(reader.text("method", {}, check_method), decoded.method);
  take(reader.text_pairs("headers", kHeadersMax, check_header_name, check_header_value),
       decoded.headers);
  take(reader.text("body", {.bytes_max = kTextMax, .may_be_empty = true}), decoded.body);
  take(reader.numbers("expect_status", 100, 599, 500), decoded.expect_status);
  take(reader.numbers("retry_status", 100, 599, 500), decoded.retry_status);
  refuse_overlap(reader, decoded.expect_status, "retry_status", decoded.retry_status,
                 "expect_status");
  take(reader.duration("timeout", Duration::millis(1), Duration::days(1)), decoded.timeout);
  reader.finish();
  return decoded;
}

ExecInputs decode_exec(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors) {
  ExecInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  decode_exec_program(reader, decoded);
  take(reader.text_map("env", kArgumentsMax, check_env_name), decoded.env);
  take(reader.flag("clear_env"), decoded.clear_env);
  take(reader.text("cwd", {.bytes_max = kPathMax}, check_absolute), decoded.cwd);
  take(reader.text("user", {.bytes_max = kUserMax}, check_account), decoded.user);
  take(reader.text("stdin", {.bytes_max = kTextMax, .may_be_empty = true}), decoded.stdin_text);
  decode_exec_limits(reader, decoded);
  reader.finish();
  return decoded;
}

FilePutInputs decode_file_put(const Json& inputs, std::string_view pointer,
                              std::vector<FieldError>& errors) {
  FilePutInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  const bool text_given = reader.has("content");
  const bool base64_given = reader.has("content_base64");
  if (!text_given && !base64_given) {
    reader.require("content");
  } else if (text_given && base64_given) {
    reader.invalid("content_base64",
                   "content_base64 and content exclude each other, exactly one must be given");
  }
  take(reader.text("content", {.bytes_max = kContentMax, .may_be_empty = true}), decoded.content);
  take(reader.text("content_base64", {.bytes_max = kContentBase64Max, .may_be_empty = true},
                   check_base64),
       decoded.content_base64);
  decode_file_attributes(reader, decoded);
  reader.finish();
  return decoded;
}

FileFetchInputs decode_file_fetch(const Json& inputs, std::string_view pointer,
                                  std::vector<FieldError>& errors) {
  FileFetchInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  reader.require("url");
  take(reader.text("url", {.bytes_max = kUrlMax},
                   [](std::string_view url) { return check_url(url, true); }),
       decoded.url);
  reader.require("sha256");
  take(reader.text("sha256", {}, check_sha256), decoded.sha256);
  std::ranges::transform(decoded.sha256, decoded.sha256.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  decode_file_attributes(reader, decoded);
  reader.finish();
  return decoded;
}

ServiceInputs decode_service(const Json& inputs, std::string_view pointer,
                             std::vector<FieldError>& errors) {
  ServiceInputs decoded;
  FieldReader reader(inputs, pointer, errors);
  reader.require("unit");
  take(reader.text("unit", {.bytes_max = kUnitMax}, check_unit), decoded.unit);
  reader.require("verb");
  take(reader.one_of("verb", {"start", "stop", "restart", "reload", "status"}), decoded.verb);
  reader.finish();
  return decoded;
}

}  // namespace muster::core
