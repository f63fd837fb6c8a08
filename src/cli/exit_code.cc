#include "cli/exit_code.h"

namespace muster::cli {

ExitCode exit_code_of(const Tally& tally) {
  if (tally.unfinished > 0) return ExitCode::WaitTimeout;
  const std::size_t not_succeeded = tally.total() - tally.succeeded;
  if (not_succeeded == 0) return ExitCode::Ok;
  if (tally.succeeded > 0) return ExitCode::Partial;
  return tally.cancelled == not_succeeded ? ExitCode::Cancelled : ExitCode::Failed;
}

ExitCode exit_code_of_http(int status) {
  switch (status) {
    case 401:
    case 403:
      return ExitCode::Forbidden;
    case 409:
    case 412:
      return ExitCode::Conflict;
    default:
      return ExitCode::Error;
  }
}

}  // namespace muster::cli
