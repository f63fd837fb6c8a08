#include "controller/api_log_record.h"

#include <algorithm>

#include "base/json.h"

namespace muster::controller {
namespace {

std::uint64_t number_of(const Json& outputs, const char* field) {
  const auto found = outputs.find(field);
  return found != outputs.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_of(const core::Action& action, const Json& outputs) {
  const auto tail = outputs.find("output_tail");
  if (tail != outputs.end() && tail->is_string()) return tail->get<std::string>();
  if (action.spec->side == core::Side::Engine && !outputs.empty()) {
    return dump_json(outputs, 2) + "\n";
  }
  return {};
}

// The next attempt is numbered as soon as one has ended. An agent's own action that took the id of
// another was attempt 1 and counts on from where that one stopped.
std::uint32_t ended_before(const core::Action& action) {
  const bool first_after_take_over =
      action.attempt_floor != 0 && action.attempt == action.attempt_floor + 1;
  return first_after_take_over ? 1 : action.attempt - 1;
}

}  // namespace

OutputPart recorded_output(const core::Action& action, std::uint32_t attempt, std::uint64_t offset,
                           std::size_t limit) {
  OutputPart part;
  part.end = action.is_final();
  part.next = offset;
  const std::uint32_t recorded = action.is_final() ? action.attempt : ended_before(action);
  const Result<Json> outputs = parse_json(action.outputs);
  if (!outputs || !outputs->is_object() || (attempt != 0 && attempt != recorded)) return part;
  const std::string text = text_of(action, *outputs);
  const std::uint64_t total =
      std::max<std::uint64_t>(number_of(*outputs, "output_bytes"), text.size());
  const std::uint64_t first = total - text.size();
  const std::uint64_t from = std::clamp(offset, first, total);
  part.data = text.substr(static_cast<std::size_t>(from - first), limit);
  part.next = from + part.data.size();
  part.end = part.end && part.next == total;
  const auto dropped = outputs->find("output_truncated");
  part.truncated = offset < first || (dropped != outputs->end() && *dropped == Json(true));
  return part;
}

}  // namespace muster::controller
