#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "exec/child_report.h"
#include "exec/run_directory.h"
#include "exec/run_request.h"

// What the processes of a run tell each other: requests to the spawner, the names and files of run
// directories, and the reports of children. Any bytes end in a value or in nothing, and what was
// accepted is written and read again without a change. The first byte picks the reader.

namespace muster::exec {
namespace {

void check_request(std::string_view bytes) {
  const auto order = decode_run_request(bytes);
  MUSTER_CHECK(!order || encode_run_request(*order) == bytes, "a request changes");
}

void check_result(std::string_view bytes) {
  const auto result = decode_result(bytes);
  if (!result) return;
  const std::string written = encode_result(*result);
  const auto again = decode_result(written);
  MUSTER_CHECK(again && encode_result(*again) == written, "a result changes: {}", written);
}

void check_report(std::string_view bytes) {
  const auto report = decode_report(bytes, "program");
  MUSTER_CHECK(!report || report->outputs.is_object(), "outputs that are no object");
}

void check_process(std::string_view bytes) {
  const auto record = decode_process_record(bytes);
  if (!record) return;
  MUSTER_CHECK(record->pid > 1, "process {}, which nobody may signal", record->pid);
  MUSTER_CHECK(encode_process_record(*record) == bytes, "a record of a process changes");
}

void check_facts(std::string_view bytes) {
  if (const auto runner = find_runner(bytes)) {
    MUSTER_CHECK(find_runner(runner_line(*runner))->pid == runner->pid, "a runner changes");
  }
  if (const auto child = find_child(bytes)) {
    MUSTER_CHECK(find_child(child_line(*child))->pid == child->pid, "a child changes");
  }
  if (const auto control = find_control(bytes)) {
    MUSTER_CHECK(find_control(control_line(*control)) == control, "a socket changes");
  }
  if (const auto result = find_result(bytes)) {
    MUSTER_CHECK(find_result(result_line(*result)).has_value(), "a result is lost");
  }
}

void check_name(std::string_view bytes) {
  const auto key = RunKey::parse(bytes);
  if (!key) return;
  const auto again = RunKey::parse(key->name());
  MUSTER_CHECK(again && *again == *key, "a run is called {}", key->name());
}

}  // namespace
}  // namespace muster::exec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::exec;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'q':
      check_request(bytes);
      break;
    case 'r':
      check_result(bytes);
      break;
    case 'c':
      check_report(bytes);
      break;
    case 'p':
      check_process(bytes);
      break;
    case 'f':
      check_facts(bytes);
      break;
    case 'n':
      check_name(bytes);
      break;
    default:
      break;
  }
  return 0;
}
