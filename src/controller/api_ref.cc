#include "controller/api_ref.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "controller/api_body.h"
#include "core/action/references.h"
#include "store/record_codec.h"

namespace muster::controller {
namespace {

constexpr std::size_t kShownMax = 5;

Result<core::ActionPtr> decode(const store::Record& record) {
  Result<core::ActionPtr> action = store::decode_action(record.value);
  if (action) return action;
  const std::string id =
      record.key.size() == Uuid::kSize ? Uuid::from_bytes(record.key).to_string() : "?";
  return fail(std::move(action.error()).wrap(fmt::format("the record of action {}", id)));
}

// One match or the error; nothing if there is none.
Result<std::optional<core::ActionPtr>> pick(std::string_view ref,
                                            const std::vector<store::Record>& records) {
  if (records.empty()) return std::nullopt;
  if (records.size() == 1) {
    MUSTER_TRY_ASSIGN(core::ActionPtr action, decode(records.front()));
    return std::optional(std::move(action));
  }
  Error error{ErrorCode::Ambiguous,
              fmt::format("{} matches {} actions, use an id:", in_quotes(ref),
                          records.size() > kShownMax ? fmt::format("more than {}", kShownMax)
                                                     : fmt::format("{}", records.size()))};
  for (std::size_t i = 0; i < std::min(records.size(), kShownMax); ++i) {
    const Result<core::ActionPtr> action = decode(records[i]);
    const std::string line = action ? fmt::format("{} {} created {}", (*action)->id().to_string(),
                                                  core::name((*action)->status),
                                                  format_rfc3339((*action)->spec->created_at))
                                    : action.error().message;
    error.message += fmt::format("{} {}", i == 0 ? "" : ";", line);
    error.fields.push_back({"", ErrorCode::Ambiguous, line});
  }
  return fail(std::move(error));
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

Result<core::ActionPtr> resolve_action(store::Store& store, std::string_view ref) {
  const Result<Uuid> id = Uuid::parse(ref);
  if (id) {
    MUSTER_TRY_ASSIGN(const auto value, store.get(store::Space::Action, id->bytes()));
    if (value) return decode({std::string(id->bytes()), *value});
  }
  MUSTER_TRY_ASSIGN(const auto named, store.find_actions_by_name(ref, kShownMax + 1));
  MUSTER_TRY_ASSIGN(auto by_name, pick(ref, named));
  if (by_name) return *std::move(by_name);
  if (!id && core::is_id_prefix(ref)) {
    MUSTER_TRY_ASSIGN(const auto prefixed, store.find_actions_by_prefix(lower(ref), kShownMax + 1));
    MUSTER_TRY_ASSIGN(auto by_prefix, pick(ref, prefixed));
    if (by_prefix) return *std::move(by_prefix);
  }
  return fail(ErrorCode::NotFound, "there is no action with the id, name or short id {}",
              in_quotes(ref));
}

}  // namespace muster::controller
