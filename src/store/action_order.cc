#include "store/action_order.h"

#include <algorithm>
#include <compare>

#include "base/hex.h"
#include "base/uuid.h"

namespace muster::store {
namespace {

std::strong_ordering compare(SortKey key, const ActionIndex& left, const ActionIndex& right) {
  switch (key) {
    case SortKey::Seq:
      return left.seq <=> right.seq;
    case SortKey::Name:
      return left.name <=> right.name;
    case SortKey::Target:
      return left.target <=> right.target;
    case SortKey::Action:
      return left.action <=> right.action;
    case SortKey::Status:
      return left.status <=> right.status;
    case SortKey::CreatedAt:
      return left.created_at <=> right.created_at;
    case SortKey::UpdatedAt:
      return left.updated_at <=> right.updated_at;
    case SortKey::FinishedAt:
      return left.finished_at <=> right.finished_at;
  }
  return std::strong_ordering::equal;
}

bool among(const std::vector<std::string>& values, const std::string& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

bool is_dash_position(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::vector<SortTerm> total_order(const std::vector<SortTerm>& sort) {
  std::vector<SortTerm> order;
  for (const SortTerm& term : sort) {
    const bool repeated = std::any_of(order.begin(), order.end(), [&](const SortTerm& earlier) {
      return earlier.key == term.key;
    });
    if (repeated) continue;
    order.push_back(term);
    if (term.key == SortKey::Seq) return order;
  }
  order.push_back({SortKey::Seq, !order.empty() && order.back().descending});
  return order;
}

bool comes_before(const std::vector<SortTerm>& order, const ActionIndex& left,
                  const ActionIndex& right) {
  for (const SortTerm& term : order) {
    const auto result = compare(term.key, left, right);
    if (result == std::strong_ordering::equal) continue;
    return term.descending ? result == std::strong_ordering::greater
                           : result == std::strong_ordering::less;
  }
  return false;
}

bool matches(const ActionFilter& filter, const ActionIndex& index) {
  return among(filter.names, index.name) && among(filter.targets, index.target) &&
         among(filter.actions, index.action) && among(filter.statuses, index.status) &&
         (!filter.live || *filter.live == index.live);
}

Result<void> check_query(const ActionQuery& query) {
  if (!query.marker.empty() && query.marker.size() != Uuid::kSize) {
    return fail(ErrorCode::InvalidMarker, "the marker has {} bytes, an id has {}",
                query.marker.size(), Uuid::kSize);
  }
  for (const auto* values : {&query.filter.names, &query.filter.targets, &query.filter.actions,
                             &query.filter.statuses}) {
    if (values->size() > kFilterValuesMax) {
      return fail(ErrorCode::InvalidValue, "a filter has {} values, at most {} are allowed",
                  values->size(), kFilterValuesMax);
    }
  }
  return {};
}

Error unknown_marker(std::string_view marker) {
  return Error{ErrorCode::InvalidMarker,
               fmt::format("marker '{}' names no action; start again without a marker",
                           Uuid::from_bytes(marker).to_string())};
}

std::optional<IdRange> id_range_of_prefix(std::string_view prefix) {
  const bool dashed = prefix.find('-') != std::string_view::npos;
  IdRange range{std::string(Uuid::kSize, '\0'), std::string(Uuid::kSize, '\xff')};
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (dashed && is_dash_position(i)) {
      if (prefix[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(prefix[i]);
    if (value < 0 || nibble == 2 * Uuid::kSize) return std::nullopt;
    const std::size_t at = nibble / 2;
    const bool high = nibble % 2 == 0;
    const auto first = static_cast<unsigned>(static_cast<unsigned char>(range.first[at]));
    const auto digit = static_cast<unsigned>(value);
    // The last id keeps its low digit at f until that digit is given.
    range.first[at] = static_cast<char>(high ? digit << 4U : first | digit);
    range.last[at] = static_cast<char>(high ? (digit << 4U) | 0x0fU : first | digit);
    ++nibble;
  }
  return range;
}

}  // namespace muster::store
