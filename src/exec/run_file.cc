#include "exec/run_file.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "base/json.h"

namespace muster::exec {
namespace {

constexpr std::string_view kRunner = "runner ";
constexpr std::string_view kControl = "control ";
constexpr std::string_view kChild = "child ";
constexpr std::string_view kResult = "result ";

constexpr std::size_t kSocketNameMax = 32;

// A number and the space behind it.
template <typename T>
bool take_number(std::string_view& text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop == end || *stop != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return true;
}

// What follows the word in its first line, newline included.
std::optional<std::string_view> find_line(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(0, end + 1);
    if (line.starts_with(word)) return line.substr(word.size());
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<ProcessRecord> find_process(std::string_view text, std::string_view word) {
  const auto line = find_line(text, word);
  return line ? decode_process_record(*line) : std::nullopt;
}

}  // namespace

std::string runner_line(const ProcessRecord& runner) {
  return fmt::format("{}{}", kRunner, encode_process_record(runner));
}

std::string control_line(std::string_view socket) {
  return fmt::format("{}{}\n", kControl, socket);
}

std::string child_line(const ProcessRecord& child) {
  return fmt::format("{}{}", kChild, encode_process_record(child));
}

std::string result_line(const RunResult& result) {
  const std::string text = encode_result(result);
  MUSTER_CHECK(text.find('\n') == std::string::npos, "a result of several lines: {}", text);
  return fmt::format("{}{}\n", kResult, text);
}

std::optional<ProcessRecord> find_runner(std::string_view text) {
  return find_process(text, kRunner);
}

std::optional<std::string> find_control(std::string_view text) {
  auto line = find_line(text, kControl);
  if (!line) return std::nullopt;
  line->remove_suffix(1);
  if (line->empty() || line->size() > kSocketNameMax) return std::nullopt;
  return std::string(*line);
}

std::optional<ProcessRecord> find_child(std::string_view text) {
  return find_process(text, kChild);
}

std::optional<RunResult> find_result(std::string_view text) {
  const auto line = find_line(text, kResult);
  return line ? decode_result(*line) : std::nullopt;
}

std::string encode_process_record(const ProcessRecord& record) {
  return fmt::format("{} {} {}\n", record.pid, record.start_time, record.boot_id);
}

std::optional<ProcessRecord> decode_process_record(std::string_view text) {
  // A file that was cut off has no last newline.
  if (text.empty() || text.back() != '\n') return std::nullopt;
  const std::string_view whole = text;
  text.remove_suffix(1);
  ProcessRecord record;
  if (!take_number(text, record.pid) || !take_number(text, record.start_time) || record.pid <= 1 ||
      text.find_first_of(" \n") != std::string_view::npos) {
    return std::nullopt;
  }
  record.boot_id = text;
  // Only what is written here is a record: no sign, no leading zero.
  if (encode_process_record(record) != whole) return std::nullopt;
  return record;
}

std::string encode_result(const RunResult& result) {
  // The outputs are JSON text already.
  return fmt::format(R"({{"outputs":{},"reason":{},"result":"{}"}})", result.outputs,
                     dump_json(Json(result.reason)), core::name(result.result));
}

std::optional<RunResult> decode_result(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  const auto result = json->find("result");
  const auto reason = json->find("reason");
  const auto outputs = json->find("outputs");
  if (result == json->end() || !result->is_string() || reason == json->end() ||
      !reason->is_string() || outputs == json->end() || !outputs->is_object()) {
    return std::nullopt;
  }
  const auto parsed = core::parse_execute_result(result->get_ref<const std::string&>());
  if (!parsed) return std::nullopt;
  return RunResult{*parsed, reason->get<std::string>(), dump_json(*outputs)};
}

}  // namespace muster::exec
