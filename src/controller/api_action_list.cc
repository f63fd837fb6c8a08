#include "controller/api_action_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/nearest.h"
#include "base/uuid.h"
#include "controller/api_body.h"
#include "core/action/status.h"
#include "http/request_checks.h"

namespace muster::controller {
namespace {

constexpr std::size_t kFilterValuesMax = 1'000;
constexpr std::size_t kSortTermsMax = 8;

constexpr std::array<std::pair<std::string_view, store::SortKey>, 8> kSortKeys = {{
    {"name", store::SortKey::Name},
    {"target", store::SortKey::Target},
    {"action", store::SortKey::Action},
    {"status", store::SortKey::Status},
    {"created_at", store::SortKey::CreatedAt},
    {"updated_at", store::SortKey::UpdatedAt},
    {"stop_time", store::SortKey::FinishedAt},
    {"id", store::SortKey::Seq},
}};

std::vector<std::string_view> sort_key_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kSortKeys) names.push_back(entry.first);
  return names;
}

void invalid(Problems& problems, std::string_view key, std::string detail) {
  problems.add(fmt::format("?{}", key), ErrorCode::InvalidValue, std::move(detail));
}

void add_status(std::string_view text, std::string_view key, Problems& problems,
                std::vector<std::string>& statuses) {
  std::string word(text);
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const auto status = core::parse_status(word)) {
    statuses.emplace_back(core::name(*status));
    return;
  }
  std::vector<std::string_view> known;
  for (int i = 0; i <= static_cast<int>(core::Status::Lost); ++i) {
    known.push_back(core::name(static_cast<core::Status>(i)));
  }
  invalid(problems, key,
          fmt::format("there is no status {}, it must be one of {}{}", in_quotes(text),
                      fmt::join(known, ", "), did_you_mean(word, known)));
}

void add_value(std::string_view field, std::string_view key, const std::string& value,
               Problems& problems, store::ActionFilter& filter) {
  if (field == "name") filter.names.push_back(value);
  if (field == "target") filter.targets.push_back(value);
  if (field == "action") filter.actions.push_back(value);
  if (field == "status") add_status(value, key, problems, filter.statuses);
}

constexpr std::array<std::string_view, 4> kFilterFields = {"name", "target", "action", "status"};

// {"name": "x", "status": ["READY", "RUNNING"]}
void read_filters(const std::string& text, Problems& problems, store::ActionFilter& filter) {
  const Result<Json> map = parse_json(text);
  if (!map || !map->is_object()) {
    invalid(problems, "filters",
            map ? fmt::format("filters must be a JSON object, not {}", type_of(*map))
                : fmt::format("filters must be a JSON object: {}", map.error().message));
    return;
  }
  for (const auto& [field, value] : map->items()) {
    if (std::ranges::find(kFilterFields, field) == kFilterFields.end()) {
      problems.add("?filters", ErrorCode::UnknownField,
                   fmt::format("there is no filter {}{}", in_quotes(field),
                               did_you_mean(field, kFilterFields)));
      continue;
    }
    const Json list = value.is_array() ? value : Json::array({value});
    for (const Json& entry : list) {
      if (entry.is_string()) {
        add_value(field, "filters", entry.get<std::string>(), problems, filter);
      } else {
        invalid(problems, "filters",
                fmt::format("filter {} must be a string or a list of strings, not {}", field,
                            type_of(entry)));
      }
    }
  }
}

std::optional<store::SortTerm> read_sort_term(std::string_view text, Problems& problems) {
  const std::size_t colon = text.find(':');
  const std::string_view key = text.substr(0, colon);
  const std::string_view direction =
      colon == std::string_view::npos ? "asc" : text.substr(colon + 1);
  const auto found =
      std::ranges::find_if(kSortKeys, [&](const auto& entry) { return entry.first == key; });
  if (found == kSortKeys.end()) {
    const auto names = sort_key_names();
    invalid(problems, "sort",
            fmt::format("there is no sort key {}, known are {}{}", in_quotes(key),
                        fmt::join(names, ", "), did_you_mean(key, names)));
    return std::nullopt;
  }
  if (direction != "asc" && direction != "desc") {
    invalid(problems, "sort",
            fmt::format("the direction of {} is {}, it must be asc or desc", key,
                        in_quotes(direction)));
    return std::nullopt;
  }
  return store::SortTerm{found->second, direction == "desc"};
}

void read_sort(const std::vector<std::string>& values, Problems& problems,
               std::vector<store::SortTerm>& sort) {
  for (const std::string& value : values) {
    std::string_view rest = value;
    while (!problems.full()) {
      const std::size_t comma = rest.find(',');
      const auto term = read_sort_term(rest.substr(0, comma), problems);
      if (term && std::ranges::any_of(
                      sort, [&](const store::SortTerm& other) { return other.key == term->key; })) {
        invalid(problems, "sort", "a sort key stands twice");
      } else if (term) {
        sort.push_back(*term);
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  if (sort.size() > kSortTermsMax) {
    invalid(problems, "sort",
            fmt::format("sort has {} keys, at most {} are allowed", sort.size(), kSortTermsMax));
  }
}

}  // namespace

Result<store::ActionQuery> decode_action_query(std::string_view raw) {
  std::vector<FieldError> unreadable;
  const http::Query query = http::Query::parse(
      raw, {"name", "target", "action", "status", "filters", "limit", "marker", "sort"},
      unreadable);
  Problems problems;
  problems.add_all(std::move(unreadable));
  store::ActionQuery result;
  for (const std::string_view field : kFilterFields) {
    for (const std::string& value : query.all(field)) {
      add_value(field, field, value, problems, result.filter);
    }
  }
  for (const std::string& text : query.all("filters")) read_filters(text, problems, result.filter);
  const store::ActionFilter& filter = result.filter;
  if (filter.names.size() + filter.targets.size() + filter.actions.size() + filter.statuses.size() >
      kFilterValuesMax) {
    invalid(problems, "filters",
            fmt::format("there are more than {} values to filter by", kFilterValuesMax));
  }
  const auto limit = query_number(query, "limit", 1, kListLimitMax);
  if (!limit) problems.add_all(limit.error().fields);
  result.limit = limit && *limit ? static_cast<std::size_t>(**limit) : kListLimitDefault;
  read_sort(query.all("sort"), problems, result.sort);
  if (const std::string marker = query.get("marker"); !marker.empty()) {
    if (const Result<Uuid> id = Uuid::parse(marker)) {
      result.marker = id->bytes();
    } else {
      problems.add("?marker", ErrorCode::InvalidMarker,
                   fmt::format("the marker {} is not the id of an action", in_quotes(marker)));
    }
  }
  if (!problems.empty()) return fail(problems.to_error());
  return result;
}

Result<std::optional<std::vector<Uuid>>> decode_action_ids(std::string_view raw) {
  if (!raw.starts_with("ids=")) return std::nullopt;
  MUSTER_TRY_ASSIGN(const http::Query query, http::Query::parse(raw, {"ids"}));
  Problems problems;
  std::vector<Uuid> ids;
  const std::string text = query.get("ids");
  std::string_view rest = text;
  while (!problems.full()) {
    const std::size_t comma = rest.find(',');
    const std::string_view each = rest.substr(0, comma);
    if (const Result<Uuid> id = Uuid::parse(each)) {
      ids.push_back(*id);
    } else {
      invalid(problems, "ids", fmt::format("{} is not the id of an action", in_quotes(each)));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (ids.size() > kListLimitMax) {
    invalid(problems, "ids",
            fmt::format("there are {} ids, at most {} are allowed", ids.size(), kListLimitMax));
  }
  if (!problems.empty()) return fail(problems.to_error());
  return ids;
}

}  // namespace muster::controller
