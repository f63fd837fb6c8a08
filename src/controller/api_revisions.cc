#include <charconv>

#include "base/field_errors.h"
#include "controller/api_model.h"
#include "controller/api_model_request.h"
#include "controller/model_json.h"
#include "core/model/model_edits.h"
#include "model/declaration_json.h"
#include "sitefile/writer.h"
#include "sitefile/xml_writer.h"
#include "store/model_loader.h"

// Whole models: declarations, the history, and going back in it.

namespace muster::controller {
namespace {

constexpr std::size_t kRevisionsLimitDefault = 50;
constexpr std::size_t kRevisionsLimitMax = 500;
constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 62;

Result<std::uint64_t> number_of(const Call& call) {
  const std::string text = call.param("number");
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size() && number <= kNumberMax) {
    return number;
  }
  return fail(ErrorCode::NotFound, "{} is not the number of a revision", in_quotes(text));
}

void apply(const CallPtr& call) {
  if (const auto typed = check_json_body(call->request); !typed) return call->refuse(typed.error());
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"dry_run"}));
  MUSTER_CALL_TRY_ASSIGN(call, const bool dry_run, http::query_flag(query, "dry_run"));
  // A large declaration takes a while to read, which must not hold up other requests.
  const bool posted = call->api.workers.post([call, dry_run] {
    MUSTER_CALL_TRY_ASSIGN(call, ApplyBody body, decode_apply(call->request.body));
    send_edit(call,
              {.change = std::move(body.apply), .why = std::move(body.why), .dry_run = dry_run});
  });
  if (!posted) call->refuse({ErrorCode::Overloaded, "too many requests wait for a worker"});
}

struct Exported {
  std::shared_ptr<const model::Declaration> model;  // null: it is XML
  std::string xml;
  std::uint64_t revision = 0;
};

Result<Exported> export_item(const core::ModelView& view, const model::Path& path, bool as_xml) {
  const model::Node* node = view.tree.find(path);
  if (!node) return fail(ErrorCode::InvalidLocation, "there is no item at {}", path.text());
  Exported exported;
  exported.revision = view.revision;
  if (as_xml) {
    sitefile::WrittenXml written = sitefile::write_xml(*node, model::Detail::Brief);
    if (!written.good()) return fail(core::to_error(written.errors));
    exported.xml = std::move(written.text);
  } else {
    exported.model =
        std::make_shared<const model::Declaration>(model::declare(*node, model::Detail::Brief));
  }
  return exported;
}

void answer_exported(const CallPtr& call, const model::Path& path, const std::string& format,
                     const Exported& exported) {
  Headers headers{{"Model-Revision", fmt::format("{}", exported.revision)}};
  if (format == "json") {
    return call->answer(200,
                        {{"at", path.text()},
                         {"revision", exported.revision},
                         {"model", model::to_json(*exported.model)}},
                        std::move(headers));
  }
  headers.emplace_back("Content-Type", "application/" + format);
  const bool xml = format == "xml";
  call->responder->respond(
      {200, std::move(headers), xml ? exported.xml : sitefile::write_yaml(*exported.model)});
}

void export_model(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"path", "format"}));
  model::Path path;
  if (query.has("path")) {
    MUSTER_CALL_TRY_ASSIGN(call, path, model::Path::parse(query.get("path")));
  }
  const std::string format = query.has("format") ? query.get("format") : "json";
  if (format != "json" && format != "yaml" && format != "xml") {
    return call->refuse(http::query_error(
        "format", ErrorCode::InvalidValue,
        fmt::format("format is {}, it must be json, yaml or xml", in_quotes(format))));
  }
  ask_model<Exported>(
      call,
      [path, xml = format == "xml"](const core::ModelView& view) {
        return export_item(view, path, xml);
      },
      [call, path, format](const Exported& exported) {
        answer_exported(call, path, format, exported);
      });
}

void list(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"limit", "marker"}));
  MUSTER_CALL_TRY_ASSIGN(call, const auto limit,
                         http::query_number(query, "limit", 1, kRevisionsLimitMax));
  MUSTER_CALL_TRY_ASSIGN(call, const auto marker,
                         http::query_number(query, "marker", 1, kNumberMax));
  const std::size_t count = static_cast<std::size_t>(limit.value_or(kRevisionsLimitDefault));
  MUSTER_CALL_TRY_ASSIGN(call, const auto heads,
                         store::list_revisions(call->api.store(), marker.value_or(0), count + 1));
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(count, heads.size()); ++i) {
    rows.push_back(revision_json(heads[i]));
  }
  const Json next = heads.size() > count ? rows.back().at("number") : Json();
  call->answer(200, {{"revisions", std::move(rows)}, {"next_marker", next}});
}

void show(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, const std::uint64_t number, number_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, const auto head, store::find_revision(call->api.store(), number));
  if (!head) {
    return call->refuse({ErrorCode::NotFound,
                         fmt::format("there is no revision {} of the model, or it is no longer "
                                     "kept",
                                     number)});
  }
  call->answer(200, {{"revision", revision_json(*head)}});
}

// What has changed from revision `from` (the one before, unless it is named) to this one.
void changes(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto query, http::Query::parse(call->request.query, {"from"}));
  MUSTER_CALL_TRY_ASSIGN(call, const std::uint64_t number, number_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, const auto from, http::query_number(query, "from", 1, kNumberMax));
  std::vector<store::ItemChange> found;
  if (from) {
    const bool backwards = *from > number;
    MUSTER_CALL_TRY_ASSIGN(call, found,
                           store::compare_revisions(call->api.store(), std::min(*from, number),
                                                    std::max(*from, number)));
    if (backwards) {
      for (store::ItemChange& change : found) std::swap(change.before, change.after);
    }
  } else {
    MUSTER_CALL_TRY_ASSIGN(call, const auto head, store::find_revision(call->api.store(), number));
    if (!head) {
      return call->refuse({ErrorCode::NotFound,
                           fmt::format("there is no revision {} of the model, or it is no longer "
                                       "kept",
                                       number)});
    }
    MUSTER_CALL_TRY_ASSIGN(call, found, store::read_changes(call->api.store(), *head));
  }
  const model::SchemaPtr schema = call->api.context.schema;
  if (!schema) return call->refuse(no_model());
  call->answer(200, {{"from", from ? Json(*from) : Json(number - 1)},
                     {"to", number},
                     {"changes_total", found.size()},
                     {"changes", changes_json(found, *schema)}});
}

void restore(const CallPtr& call) {
  if (!call->request.body.empty()) {
    if (const auto typed = check_json_body(call->request); !typed) {
      return call->refuse(typed.error());
    }
  }
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"dry_run"}));
  MUSTER_CALL_TRY_ASSIGN(call, const bool dry_run, http::query_flag(query, "dry_run"));
  MUSTER_CALL_TRY_ASSIGN(call, const std::uint64_t number, number_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, std::string why, decode_why(call->request.body));
  send_edit(call,
            {.change = core::RestoreRevision{number}, .why = std::move(why), .dry_run = dry_run});
}

}  // namespace

void add_revision_routes(Routes& routes) {
  routes.add("POST", "/v1/apply", Permission::Edit, apply);
  routes.add("GET", "/v1/export", Permission::Read, export_model);
  routes.add("GET", "/v1/revisions", Permission::Read, list);
  routes.add("GET", "/v1/revisions/{number}", Permission::Read, show);
  routes.add("GET", "/v1/revisions/{number}/changes", Permission::Read, changes);
  routes.add("POST", "/v1/revisions/{number}/restore", Permission::Edit, restore);
}

}  // namespace muster::controller
