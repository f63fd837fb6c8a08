#include "exec/child_report.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "exec/fd.h"
#include "exec/run_directory.h"

namespace muster::exec {
namespace {

constexpr char kReport = 'J';
constexpr char kExecFailure = 'E';
constexpr std::size_t kReportBytesMax = std::size_t{48} << 10;
constexpr std::size_t kReasonBytesMax = 4096;

}  // namespace

void send_report(int pipe, const ChildReport& report) {
  RunResult result{report.result, report.reason.substr(0, kReasonBytesMax),
                   dump_json(report.outputs)};
  std::string text = encode_result(result);
  if (text.size() > kReportBytesMax) {
    result.outputs = R"({"outputs_dropped":true})";
    text = encode_result(result);
  }
  write_all(pipe, kReport + text);
}

void send_exec_failure(int pipe, int error) {
  std::array<char, 16> text = {kExecFailure};
  const auto end = std::to_chars(text.data() + 1, text.data() + text.size(), error);
  write_all(pipe, {text.data(), static_cast<std::size_t>(end.ptr - text.data())});
}

std::optional<ChildReport> read_report(int pipe, std::string_view program) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return decode_report(text, program);
}

std::optional<ChildReport> decode_report(std::string_view text, std::string_view program) {
  if (text.empty()) return std::nullopt;
  const char kind = text.front();
  text.remove_prefix(1);
  if (kind == kExecFailure) {
    int error = 0;
    std::from_chars(text.data(), text.data() + text.size(), error);
    return ChildReport::error(fmt::format("cannot run '{}': {}", program, errno_text(error)));
  }
  if (kind != kReport) return std::nullopt;
  const auto result = decode_result(text);
  if (!result) return std::nullopt;
  const auto outputs = parse_json(result->outputs);
  return ChildReport{result->result, result->reason, outputs ? *outputs : Json::object()};
}

}  // namespace muster::exec
