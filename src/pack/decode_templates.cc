#include <fmt/format.h>

#include <array>

#include "model/quoted.h"
#include "pack/decode.h"

namespace muster::pack {
namespace {

using document::Document;
using document::MapReader;
using document::Problems;

constexpr std::size_t kTemplatesMax = 1'000;
constexpr std::array<std::string_view, 2> kTaskKinds = {"config", "remote"};

class TemplateReader {
 public:
  TemplateReader(const Document& file, const std::string& pack, Problems& problems)
      : file_(file), pack_(pack), problems_(problems) {}

  plan::TaskTemplate read(const document::Value& value) {
    MapReader reader(file_, value, "a template", problems_);
    plan::TaskTemplate made;
    made.pack = pack_;
    made.place = reader.place();
    made.type = reader.required_text("type");
    made.states = states(reader);
    made.if_set = reader.texts("if_set");
    made.kind = reader.choice("task", kTaskKinds).value_or(0) == 0 ? plan::TaskKind::Config
                                                                   : plan::TaskKind::Remote;
    made.description = required(reader, "description");
    if (made.kind == plan::TaskKind::Config) {
      made.call = call(reader.value("call"), reader.place("call"));
      made.replaces = calls(reader, "replaces");
      made.persist = reader.flag("persist").value_or(true);
      made.attributes = fields(reader.map("attributes"));
    } else {
      made.action = reader.required_text("action");
      made.attributes = fields(reader.map("inputs"));
    }
    made.requirements = requirements(reader);
    if (made.kind == plan::TaskKind::Config) made.absent_if = absence(reader);
    made.tag = reader.text("tag").value_or("");
    reader.finish();
    return made;
  }

 private:
  std::vector<model::ItemState> states(MapReader& reader) {
    std::vector<model::ItemState> states;
    if (!reader.has("states")) return {model::ItemState::Initial, model::ItemState::Updated};
    for (const std::string& word : reader.texts("states")) {
      const auto state = model::parse_item_state(word);
      if (state && *state != model::ItemState::Applied && *state != model::ItemState::Removed) {
        states.push_back(*state);
      } else {
        reader.invalid("states",
                       fmt::format("{} is none of Initial, Updated and ForRemoval, which are the "
                                   "states in which there is something to do",
                                   model::quoted(word)));
      }
    }
    return states;
  }

  plan::TemplateText text(const document::Value& value, std::string_view what) {
    plan::TemplateText parsed;
    parsed.place = file_.place(value.mark);
    const std::optional<std::string> given = read_text(file_, value, what, problems_);
    if (!given) return parsed;
    if (std::string problem = plan::parse_template_text(*given, parsed); !problem.empty()) {
      problems_.add(parsed.place, std::move(problem));
    }
    return parsed;
  }

  plan::TemplateText required(MapReader& reader, std::string_view field) {
    const document::Value* const value = reader.value(field);
    if (value == nullptr || value->scalar() == nullptr || value->scalar()->text.empty()) {
      reader.required_text(field);
      return {{}, reader.place()};
    }
    return text(*value, field);
  }

  // {type: package, id: ${name}}.
  plan::TemplateCall call(const document::Value* value, const model::Place& place) {
    if (value == nullptr) {
      problems_.add(place,
                    "a template of a config task has a 'call': the type and the id of a "
                    "resource");
      return {};
    }
    MapReader reader(file_, *value, "a call", problems_);
    plan::TemplateCall made{required(reader, "type"), required(reader, "id")};
    reader.finish();
    return made;
  }

  std::vector<plan::TemplateCall> calls(MapReader& reader, std::string_view field) {
    std::vector<plan::TemplateCall> made;
    if (const document::List* list = reader.list(field)) {
      for (const document::Value& value : *list) made.push_back(call(&value, reader.place(field)));
    }
    return made;
  }

  // {type: user, id: ${owner}}, {type: group, each: ${groups?}}, {type: directory, above: ${path}}
  // or {every: package}.
  plan::TemplateRequirement requirement(const document::Value& value) {
    using Which = plan::TemplateRequirement::Which;
    MapReader reader(file_, value, "a requirement", problems_);
    plan::TemplateRequirement made;
    if (reader.has("every")) {
      made.which = Which::Every;
      made.call.type = required(reader, "every");
    } else {
      made.call.type = required(reader, "type");
      made.which = reader.has("each")    ? Which::Each
                   : reader.has("above") ? Which::Above
                                         : Which::One;
      constexpr std::array<std::string_view, 3> kFields = {"id", "each", "above"};
      made.call.id = required(reader, kFields[static_cast<std::size_t>(made.which)]);
    }
    reader.finish();
    return made;
  }

  std::vector<plan::TemplateRequirement> requirements(MapReader& reader) {
    std::vector<plan::TemplateRequirement> made;
    if (const document::List* list = reader.list("requires")) {
      for (const document::Value& value : *list) made.push_back(requirement(value));
    }
    return made;
  }

  // {ensure: [absent, purged]}.
  std::optional<plan::TemplateAbsence> absence(MapReader& reader) {
    const document::Value* const value = reader.value("absent_if");
    if (value == nullptr) return std::nullopt;
    const document::Map* const map = value->map();
    if (map == nullptr || map->size() != 1) {
      problems_.add(reader.place("absent_if"),
                    "'absent_if' names one property and its values, as in {ensure: absent}");
      return std::nullopt;
    }
    MapReader inner(file_, *value, "'absent_if'", problems_);
    plan::TemplateAbsence made{map->front().key, inner.texts(map->front().key)};
    inner.finish();
    return made;
  }

  plan::TemplateFields fields(const document::Map* map) {
    plan::TemplateFields made;
    if (map == nullptr) return made;
    for (const document::Entry& entry : *map) {
      made.push_back({entry.key, value_of(entry.value, entry.key)});
    }
    return made;
  }

  plan::TemplateValue value_of(const document::Value& value, const std::string& what) {
    plan::TemplateValue made;
    made.place = file_.place(value.mark);
    if (const document::List* list = value.list()) {
      std::vector<plan::TemplateValue> values;
      for (const document::Value& inner : *list) values.push_back(value_of(inner, what));
      made.data = std::move(values);
      return made;
    }
    const document::Map* const map = value.map();
    if (map == nullptr) {
      made.data = text(value, what);
      return made;
    }
    const auto has = [&](std::string_view key) { return !map->empty() && map->front().key == key; };
    if (has("collect")) {
      MapReader reader(file_, value, "a collected mapping", problems_);
      made.data = plan::TemplateCollect{reader.required_text("collect"), required(reader, "key"),
                                        required(reader, "value")};
      reader.finish();
    } else if (has("fill")) {
      MapReader reader(file_, value, "a filled text", problems_);
      made.data = plan::TemplateFill{required(reader, "fill")};
      reader.finish();
    } else {
      made.data = fields(map);
    }
    return made;
  }

  const Document& file_;
  const std::string& pack_;
  Problems& problems_;
};

}  // namespace

std::vector<plan::TaskTemplate> decode_templates(const Document& file, const std::string& pack,
                                                 Problems& problems) {
  MapReader reader(file, file.root, "a file of templates", problems);
  std::vector<plan::TaskTemplate> templates;
  const document::List* const list = reader.list("templates");
  if (list != nullptr && list->size() > kTemplatesMax) {
    problems.add(reader.place("templates"),
                 fmt::format("{} templates; at most {} are allowed", list->size(), kTemplatesMax));
  } else if (list != nullptr) {
    TemplateReader one(file, pack, problems);
    for (const document::Value& value : *list) templates.push_back(one.read(value));
  }
  reader.finish();
  return templates;
}

}  // namespace muster::pack
