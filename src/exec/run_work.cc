#include "exec/run_work.h"

#include <algorithm>

#include "core/kind/catalog.h"

namespace muster::exec {
namespace {

constexpr Duration kTimeoutDefault = Duration::hours(1);

std::string describe(const std::vector<FieldError>& errors) {
  std::string text;
  for (const FieldError& error : errors) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", error.pointer, error.detail);
  }
  return text;
}

}  // namespace

std::vector<std::string> executable_kinds() {
  return {"exec",    "facts", "fail", "file.fetch", "file.put", std::string(kNoop),
          "service", "sleep"};
}

Result<RunWork> read_work(const RunSpec& spec) {
  const auto kinds = executable_kinds();
  if (std::find(kinds.begin(), kinds.end(), spec.kind) == kinds.end()) {
    return fail(ErrorCode::UnknownKind, "this agent cannot run actions of kind '{}'", spec.kind);
  }
  MUSTER_TRY_ASSIGN(Json inputs, parse_json(spec.inputs));
  std::vector<FieldError> errors;
  RunWork work;
  work.kind = spec.kind;
  work.timeout = spec.timeout.us > 0 ? spec.timeout : kTimeoutDefault;
  if (work.is_exec()) {
    work.exec = core::decode_exec(inputs, "/inputs", errors);
    work.grace = work.exec.grace;
    work.output_limit = work.exec.output_limit;
  } else {
    errors = core::KindCatalog::check_inputs(spec.kind, inputs, "/inputs");
  }
  if (!errors.empty()) {
    return fail(ErrorCode::InvalidRequest, "the inputs are not valid: {}", describe(errors));
  }
  work.inputs = std::move(inputs);
  return work;
}

}  // namespace muster::exec
