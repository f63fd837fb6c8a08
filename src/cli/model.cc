#include "cli/model.h"

#include <algorithm>

#include "base/uuid.h"
#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/model_views.h"
#include "cli/table.h"
#include "cli/text.h"
#include "model/path.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kItemsPage = 1000;

// All of them are looked at before one is refused.
Outcome<Json> values_of(const std::vector<std::string>& texts) {
  Json values = Json::object();
  std::string wrong;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      wrong += fmt::format("{}'{}'", wrong.empty() ? "" : ", ", text);
      continue;
    }
    const std::string name = text.substr(0, equals);
    if (values.contains(name)) return usage("property '{}' is given twice", name);
    values[name] = text.substr(equals + 1);
  }
  if (!wrong.empty()) return usage("{} must be NAME=VALUE", wrong);
  return values;
}

Outcome<std::pair<std::string, std::string>> split_path(const std::string& text) {
  Result<model::Path> path = model::Path::parse(text);
  if (!path) return usage("PATH: {}", path.error().message);
  if (path->is_root()) return usage("PATH: the root is always there");
  return std::pair(path->parent().text(), std::string(path->id()));
}

Outcome<ExitCode> make_item(Context& context, ApiClient& client, const ItemOptions& options,
                            Json body) {
  MUSTER_TRY_ASSIGN(const auto split, split_path(options.path));
  MUSTER_TRY_ASSIGN(const std::string path, model_path(split.first));
  MUSTER_TRY_ASSIGN(body["properties"], values_of(options.values));
  body["id"] = split.second;
  if (!options.edit.why.empty()) body["why"] = options.edit.why;
  MUSTER_TRY_ASSIGN(const Json answer,
                    send_edit(context, client, {.path = path, .body = &body}, options.edit));
  print_edit(context, answer);
  return ExitCode::Ok;
}

Outcome<Json> get_item(ApiClient& client, const std::string& path, std::uint64_t depth) {
  MUSTER_TRY_ASSIGN(const std::string url, model_path(path));
  return client.get(url, {{"depth", std::to_string(depth)}});
}

bool is_about_depth(const Failure& failure) {
  return std::any_of(failure.fields.begin(), failure.fields.end(),
                     [](const FieldProblem& field) { return field.pointer == "?depth"; });
}

void print_paths(Context& context, const Json& item) {
  context.console.out(json_text(item, "path") + "\n");
  const Json& items = json_at(item, "items");
  if (!items.is_array()) return;
  for (const Json& child : items) print_paths(context, child);
}

}  // namespace

Outcome<std::string> model_path(const std::string& path) {
  const Result<model::Path> parsed = model::Path::parse(path);
  if (!parsed) return usage("PATH: {}", parsed.error().message);
  return parsed->is_root() ? std::string("/v1/model") : "/v1/model" + parsed->text();
}

Outcome<Json> send_edit(Context& context, ApiClient& client, ApiClient::Change change,
                        const EditOptions& options) {
  if (options.dry_run) change.query.emplace_back("dry_run", "true");
  for (auto& header : if_match(options.if_match)) change.headers.push_back(std::move(header));
  const std::string key =
      options.idempotency_key.empty()
          ? Uuid::v4(context.environment.random(), context.environment.random()).to_string()
          : options.idempotency_key;
  return client.send_once(std::move(change), key, context);
}

void print_edit(Context& context, const Json& answer) {
  if (wants_document(context)) {
    print_document(context, answer);
    return;
  }
  const Json& changes = json_at(answer, "changes");
  if (context.options.format == Format::Name) {
    for (const Json& change : changes) context.console.out(json_text(change, "path") + "\n");
    return;
  }
  context.console.out(changes_text(changes, context.terminal));
  const std::int64_t total = json_int(answer, "changes_total");
  const auto shown = static_cast<std::int64_t>(changes.size());
  if (total > shown) {
    context.console.say(fmt::format("... and {} more\n", total - shown));
  }
  for (const Json& notice : json_at(answer, "notices")) {
    context.console.warn(printable(json_cell(notice)) + "\n");
  }
  const std::int64_t revision = json_int(answer, "revision");
  if (json_bool(answer, "dry_run")) {
    context.console.say(fmt::format("would be: {}\n", changes_summary(changes)));
  } else if (!changes.is_array()) {
    context.console.say(fmt::format("done before, as revision {}\n", revision));
  } else if (changes.empty()) {
    context.console.say(fmt::format("nothing to change; the model is at revision {}\n", revision));
  } else {
    context.console.say(fmt::format("revision {}: {}\n", revision, changes_summary(changes)));
  }
}

Outcome<ExitCode> create_item(Context& context, ApiClient& client, const ItemOptions& options) {
  return make_item(context, client, options, {{"type", options.type}});
}

Outcome<ExitCode> inherit_item(Context& context, ApiClient& client, const ItemOptions& options) {
  return make_item(context, client, options, {{"inherit", options.source}});
}

Outcome<ExitCode> update_item(Context& context, ApiClient& client, const ItemOptions& options) {
  MUSTER_TRY_ASSIGN(const std::string path, model_path(options.path));
  MUSTER_TRY_ASSIGN(Json values, values_of(options.values));
  for (const std::string& name : options.unset) {
    if (const auto found = values.find(name); found != values.end()) {
      if (found->is_null()) return usage("--unset {} is given twice", name);
      return usage("property '{}' is both set and taken away with --unset", name);
    }
    values[name] = nullptr;
  }
  if (values.empty()) return usage("nothing to update: give NAME=VALUE or --unset NAME");
  Json body = {{"properties", std::move(values)}};
  if (!options.edit.why.empty()) body["why"] = options.edit.why;
  MUSTER_TRY_ASSIGN(
      const Json answer,
      send_edit(context, client, {.method = "PATCH", .path = path, .body = &body}, options.edit));
  print_edit(context, answer);
  return ExitCode::Ok;
}

Outcome<ExitCode> remove_item(Context& context, ApiClient& client, const ItemOptions& options) {
  MUSTER_TRY_ASSIGN(const std::string path, model_path(options.path));
  ApiClient::Change change{.method = "DELETE", .path = path};
  if (!options.edit.why.empty()) change.query.emplace_back("why", options.edit.why);
  MUSTER_TRY_ASSIGN(const Json answer, send_edit(context, client, change, options.edit));
  print_edit(context, answer);
  return ExitCode::Ok;
}

Outcome<ExitCode> show_item(Context& context, ApiClient& client, const std::string& path,
                            std::uint64_t depth) {
  MUSTER_TRY_ASSIGN(const Json item, get_item(client, path, depth));
  if (wants_document(context)) {
    print_document(context, item);
  } else if (context.options.format == Format::Name) {
    print_paths(context, item);
  } else {
    const std::function<void(const Json&)> print = [&](const Json& each) {
      context.console.out(item_text(each, context.terminal));
      const Json& items = json_at(each, "items");
      if (!items.is_array()) return;
      for (const Json& child : items) print(child);
    };
    print(item);
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_tree(Context& context, ApiClient& client, const std::string& path,
                            std::optional<std::uint64_t> depth) {
  constexpr std::uint64_t kDepth = 10;
  std::uint64_t shown = depth.value_or(kDepth);
  Outcome<Json> answer = get_item(client, path, shown);
  // A large model has more items than one answer may.
  while (!answer && !depth && shown > 1 && is_about_depth(answer.error())) {
    answer = get_item(client, path, --shown);
  }
  MUSTER_TRY_ASSIGN(const Json item, std::move(answer));
  if (!depth && shown < kDepth) {
    context.console.say(
        fmt::format("the model is large: {} level{} shown; name an item further "
                    "down, or use --depth\n",
                    shown, shown == 1 ? " is" : "s are"));
  }
  if (wants_document(context)) {
    print_document(context, item);
  } else if (context.options.format == Format::Name) {
    print_paths(context, item);
  } else {
    context.console.out(tree_text(item, context.terminal));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> find_items(Context& context, ApiClient& client, const FindOptions& options) {
  Query query;
  if (!options.below.empty()) query.emplace_back("below", options.below);
  if (!options.type.empty()) query.emplace_back("type", options.type);
  if (!options.state.empty()) query.emplace_back("state", options.state);
  if (!options.id.empty()) query.emplace_back("id", options.id);
  for (const std::string& property : options.properties) query.emplace_back("property", property);
  Json found = Json::array();
  std::string marker;
  while (options.limit == 0 || found.size() < options.limit) {
    const std::uint64_t left = options.limit == 0 ? kItemsPage : options.limit - found.size();
    Query page = query;
    page.emplace_back("limit", std::to_string(std::min(left, kItemsPage)));
    if (!marker.empty()) page.emplace_back("marker", marker);
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/items", page));
    for (const Json& item : json_at(answer, "items")) found.push_back(item);
    marker = json_text(answer, "next_marker");
    if (marker.empty()) break;
  }
  if (wants_document(context)) {
    print_document(context, {{"items", found}});
  } else if (context.options.format == Format::Name) {
    for (const Json& item : found) context.console.out(json_text(item, "path") + "\n");
  } else if (found.empty()) {
    context.console.say("no item fits\n");
  } else {
    Table table({{.title = "PATH", .shrinks = true, .width_min = 20},
                 {.title = "TYPE"},
                 {.title = "STATE"},
                 {.title = "FROM", .shrinks = true, .width_min = 8, .if_any = true, .spare = 1},
                 {.title = "PROPERTIES", .shrinks = true, .width_min = 10, .spare = 2}});
    for (const Json& item : found) {
      table.add_row({{json_text(item, "path")},
                     {json_text(item, "type")},
                     {json_text(item, "state")},
                     {json_text(item, "inherited_from")},
                     {json_cell(json_at(item, "properties"))}});
    }
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_history(Context& context, ApiClient& client, std::uint64_t limit) {
  MUSTER_TRY_ASSIGN(const Json answer,
                    client.get("/v1/revisions", {{"limit", std::to_string(limit)}}));
  const Json& revisions = json_at(answer, "revisions");
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    for (const Json& each : revisions) {
      context.console.out(fmt::format("{}\n", json_int(each, "number")));
    }
    return ExitCode::Ok;
  }
  Table table({{.title = "REVISION"},
               {.title = "AGE"},
               {.title = "WHO", .shrinks = true},
               {.title = "ADDED"},
               {.title = "CHANGED"},
               {.title = "REMOVED"},
               {.title = "WHAT", .shrinks = true, .width_min = 10},
               {.title = "WHY", .shrinks = true, .width_min = 6, .if_any = true, .spare = 1}});
  for (const Json& each : revisions) {
    table.add_row({{json_cell(json_at(each, "number"))},
                   {json_age(each, "at", context.environment.now())},
                   {json_text(each, "who")},
                   {json_cell(json_at(each, "added"))},
                   {json_cell(json_at(each, "changed"))},
                   {json_cell(json_at(each, "removed"))},
                   {json_text(each, "what")},
                   {json_text(each, "why")}});
  }
  context.console.out(table.render(table_options(context)));
  return ExitCode::Ok;
}

Outcome<ExitCode> diff_revisions(Context& context, ApiClient& client, std::uint64_t from,
                                 std::uint64_t to) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get(fmt::format("/v1/revisions/{}/changes", to),
                                                  {{"from", std::to_string(from)}}));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& changes = json_at(answer, "changes");
  if (context.options.format == Format::Name) {
    for (const Json& change : changes) context.console.out(json_text(change, "path") + "\n");
    return ExitCode::Ok;
  }
  context.console.out(changes_text(changes, context.terminal));
  context.console.say(
      fmt::format("from revision {} to {}: {}\n", from, to, changes_summary(changes)));
  return ExitCode::Ok;
}

Outcome<ExitCode> restore_revision(Context& context, ApiClient& client, std::uint64_t number,
                                   const EditOptions& options) {
  Json body = Json::object();
  if (!options.why.empty()) body["why"] = options.why;
  MUSTER_TRY_ASSIGN(
      const Json answer,
      send_edit(context, client,
                {.path = fmt::format("/v1/revisions/{}/restore", number), .body = &body}, options));
  print_edit(context, answer);
  return ExitCode::Ok;
}

}  // namespace muster::cli
