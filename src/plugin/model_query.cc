#include <algorithm>
#include <set>

#include "model/quoted.h"
#include "plugin/model_json.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kAnswerMax = 10'000;

struct Query {
  std::int32_t path = Snapshot::kNone;
  std::int32_t children = Snapshot::kNone;
  std::int32_t below = Snapshot::kNone;
  const model::ItemType* type = nullptr;
  std::vector<std::pair<std::string, std::string>> where;
  std::set<model::ItemState> states;
};

tl::unexpected<RpcError> refuse(std::string message) {
  return tl::unexpected(RpcError{kInvalidParams, std::move(message)});
}

class QueryReader {
 public:
  QueryReader(const Snapshot& snapshot, const Json& params)
      : snapshot_(snapshot), params_(params) {}

  tl::expected<Query, RpcError> read() {
    for (const auto& [name, value] : params_.items()) {
      if (!read_field(name, value)) return refuse(problem_);
    }
    const int ways = (query_.path != Snapshot::kNone || missing_path_) +
                     (query_.children != Snapshot::kNone) + (query_.type != nullptr);
    if (ways != 1) return refuse("a query has exactly one of 'path', 'children' and 'type'");
    return query_;
  }

  // It asked for a path where nothing is, which is an answer and no mistake.
  bool missing_path() const { return missing_path_; }

 private:
  bool read_field(const std::string& name, const Json& value) {
    if (name == "path") return read_path(name, value, query_.path, true);
    if (name == "children") return read_path(name, value, query_.children, false);
    if (name == "below") return read_path(name, value, query_.below, false);
    if (name == "type") return read_type(value);
    if (name == "where") return read_where(value);
    if (name == "states") return read_states(value);
    return wrong(fmt::format("a query has no field {}", model::quoted(name)));
  }

  bool read_path(const std::string& name, const Json& value, std::int32_t& row, bool may_miss) {
    if (!value.is_string()) return wrong(fmt::format("'{}' must be a path", name));
    const Result<model::Path> path = model::Path::parse(value.get_ref<const std::string&>());
    if (!path) return wrong(path.error().message);
    row = snapshot_.find(*path);
    if (row != Snapshot::kNone) return true;
    if (!may_miss) return wrong(fmt::format("there is no item {}", model::quoted(path->text())));
    missing_path_ = true;
    return true;
  }

  bool read_type(const Json& value) {
    auto types = named_types(snapshot_.schema(), Json::array({value}));
    if (!types) return wrong(types.error().message);
    query_.type = types->front();
    return true;
  }

  bool read_where(const Json& value) {
    if (!value.is_object()) return wrong("'where' must be a mapping of properties");
    for (const auto& [property, wanted] : value.items()) {
      if (!wanted.is_string()) return wrong("'where' must be a mapping of properties to texts");
      query_.where.emplace_back(property, wanted.get<std::string>());
    }
    return true;
  }

  bool read_states(const Json& value) {
    if (!value.is_array()) return wrong("'states' must be a list of states");
    for (const Json& state : value) {
      const auto parsed = state.is_string()
                              ? model::parse_item_state(state.get_ref<const std::string&>())
                              : std::nullopt;
      if (!parsed) return wrong(fmt::format("{} is no state of an item", dump_json(state)));
      query_.states.insert(*parsed);
    }
    return true;
  }

  bool wrong(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  const Snapshot& snapshot_;
  const Json& params_;
  Query query_;
  std::string problem_;
  bool missing_path_ = false;
};

Json properties_json(const model::ItemType& type, const model::PropertiesPtr& properties,
                     const Reveal& reveal) {
  Json json = Json::object();
  if (properties == nullptr) return json;
  for (const auto& [name, value] : *properties) {
    json[std::string(name)] = is_hidden(type, name, reveal) ? Json() : Json(value);
  }
  return json;
}

Json item_json(const Snapshot& snapshot, std::int32_t number, const Reveal& reveal) {
  const Snapshot::Row& row = snapshot.row(number);
  const model::Item& item = *row.item;
  Json json = {{"path", snapshot.path(number).text()},
               {"id", row.id},
               {"type", item.type->id},
               {"class", model::name(item.item_class)},
               {"state", model::name(item.state)},
               {"determinable", item.determinable},
               {"properties", properties_json(*item.type, row.properties, reveal)}};
  if (row.source != Snapshot::kNone) json["source"] = snapshot.path(row.source).text();
  if (item.was_applied) {
    json["applied_properties"] = properties_json(*item.type, item.applied, reveal);
  }
  return json;
}

bool matches(const Snapshot& snapshot, std::int32_t number, const Query& query,
             const Reveal& reveal) {
  const Snapshot::Row& row = snapshot.row(number);
  const model::Item& item = *row.item;
  if (item.is_collection() || !item.type->is_a(*query.type)) return false;
  if (query.below == Snapshot::kNone && row.source != Snapshot::kNone) return false;
  if (!query.states.empty() && !query.states.contains(item.state)) return false;
  return std::all_of(query.where.begin(), query.where.end(), [&](const auto& criterion) {
    const std::string* const value = model::find(row.properties, criterion.first);
    return value != nullptr && *value == criterion.second &&
           !is_hidden(*item.type, criterion.first, reveal);
  });
}

}  // namespace

tl::expected<Json, RpcError> answer_query(const Snapshot& snapshot, const Json& params,
                                          const Reveal& reveal) {
  QueryReader reader(snapshot, params);
  auto query = reader.read();
  if (!query) return tl::unexpected(query.error());
  Json items = Json::array();
  bool more = false;
  const auto add = [&](std::int32_t number) {
    more = items.size() == kAnswerMax;
    if (!more) items.push_back(item_json(snapshot, number, reveal));
    return !more;
  };
  if (query->path != Snapshot::kNone) {
    add(query->path);
  } else if (query->children != Snapshot::kNone) {
    for (const std::int32_t child : snapshot.children(query->children)) {
      if (!add(child)) break;
    }
  } else if (!reader.missing_path()) {
    const std::int32_t from = std::max(query->below, 0);
    for (std::int32_t at = from; at < snapshot.row(from).end; ++at) {
      if (matches(snapshot, at, *query, reveal) && !add(at)) break;
    }
  }
  Json answer = {{"items", std::move(items)}};
  if (more) answer["more"] = true;
  return answer;
}

}  // namespace muster::plugin
