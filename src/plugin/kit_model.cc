#include "plugin/kit_model.h"

#include <algorithm>
#include <array>

#include "model/edit.h"
#include "model/value_check.h"

namespace muster::plugin {
namespace {

using document::MapReader;

model::Declaration read_item(const document::Document& file, const document::Value& value,
                             document::Problems& problems) {
  model::Declaration made;
  const document::Map* const map = value.map();
  if (map == nullptr) {
    if (value.kind() != document::Kind::Null) {
      problems.add(file.place(value.mark), "an item is a mapping");
    }
    return made;
  }
  MapReader reader(file, value, "an item", problems);
  made.type = reader.text("type");
  if (const auto source = reader.text("inherit")) {
    Result<model::Path> path = model::Path::parse(*source);
    if (path) {
      made.inherit = std::move(*path);
    } else {
      reader.invalid("inherit", path.error().message);
    }
  }
  if (const document::Map* properties = reader.map("properties")) {
    for (const document::Entry& entry : *properties) {
      made.properties[entry.key] =
          document::read_text(file, entry.value, entry.key, problems).value_or("");
    }
  }
  for (const document::Entry& entry : *map) {
    if (entry.key == "type" || entry.key == "inherit" || entry.key == "properties") continue;
    made.children.emplace(entry.key, read_item(file, entry.value, problems));
  }
  return made;
}

// Makes edits, with the answers of plugins.
class Maker {
 public:
  Maker(KitModel& model, const model::SchemaPtr& schema, PluginHost& host)
      : model_(model), schema_(schema), host_(host) {}

  template <typename Edit>
  std::vector<std::string> make(const Edit& edit) {
    constexpr int kRounds = 10;  // checks of an item are asked after those of its values
    std::vector<std::string> problems;
    for (int round = 0; round < kRounds; ++round) {
      const model::EditOutcome outcome = edit(answers_);
      for (const model::ModelError& error : outcome.errors) {
        problems.push_back(fmt::format("{}: {}", error.path.text(), error.message));
      }
      if (outcome.questions.empty()) return problems;
      auto answer =
          host_.check(std::make_shared<Snapshot>(model_.tree, schema_, 1), outcome.questions);
      for (const PluginFailure& failure : answer.failures) problems.push_back(failure.message());
      if (!answer.good()) return problems;
      answers_.merge(answer.value);
      // Directories are those of the controller's host, which the kit knows nothing of.
      for (const model::Question& question : outcome.questions) answers_.try_emplace(question, "");
    }
    return problems;
  }

 private:
  KitModel& model_;
  const model::SchemaPtr& schema_;
  PluginHost& host_;
  model::Answers answers_;
};

// A value that most property types find right.
constexpr std::array<std::string_view, 26> kValues = {
    "a",
    "1",
    "10",
    "100",
    "true",
    "present",
    "/tmp/a",
    "a.service",
    "192.0.2.1",
    "192.0.2.0/24",
    "2001:db8::1",
    "2001:db8::1/64",
    "2001:db8::/32",
    "example.org",
    "http://example.org/a",
    "00:00:5e:00:53:01",
    "0644",
    "30s",
    "10G",
    "1.0",
    "amd64",
    "net.ipv4.ip_forward",
    "$6$a$b",
    "2030-01-01",
    "YQ==",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};

class SampleMaker {
 public:
  SampleMaker(KitModel& model, const model::SchemaPtr& schema, const std::string& pack,
              PluginHost& host)
      : model_(model), schema_(schema), pack_(pack), maker_(model, schema, host) {}

  void make() {
    add("/deployments", "d", "deployment");
    add("/deployments/d/clusters", "c", "cluster");
    for (const char* id : {"n1", "n2"}) {
      if (!add("/deployments/d/clusters/c/nodes", id, "node", {{"hostname", id}})) continue;
      add(std::string("/deployments/d/clusters/c/nodes/") + id + "/network_interfaces", "if0",
          "network-interface", {{"device_name", "eth0"}, {"ipaddress", "192.0.2.1"}});
    }
    for (const auto& [id, type] : schema_->item_types()) {
      if (type->pack == pack_) add_type(*type);
    }
  }

 private:
  bool add(const std::string& parent, const std::string& id, const std::string& type,
           model::GivenProperties properties = {}) {
    return maker_
        .make([&](const model::Answers& answers) {
          return model::edit(model_.tree, *schema_,
                             {model::CreateItem{*model::Path::parse(parent), id, type, properties}},
                             model::Actor::User, answers);
        })
        .empty();
  }

  bool inherit(const std::string& parent, const std::string& id, const std::string& source) {
    return maker_
        .make([&](const model::Answers& answers) {
          return model::edit(model_.tree, *schema_,
                             {model::InheritItem{
                                 *model::Path::parse(parent), id, *model::Path::parse(source), {}}},
                             model::Actor::User, answers);
        })
        .empty();
  }

  // Values for what must be set: required properties, and one of those of which one must be.
  std::optional<model::GivenProperties> values_of(const model::ItemType& type) const {
    model::GivenProperties values;
    const auto give = [&](const std::string& name) {
      const model::Property& property = *type.find_property(name);
      if (values.contains(name) || property.definition.default_value) return true;
      const auto found = std::find_if(kValues.begin(), kValues.end(), [&](std::string_view value) {
        return model::value_problem(*property.type, value).empty();
      });
      if (found == kValues.end()) return false;
      values[name] = *found;
      return true;
    };
    for (const auto& [name, property] : type.properties) {
      if (property.definition.required && !give(name)) return std::nullopt;
    }
    for (const auto& [owner, check] : type.checks) {
      const auto* one = std::get_if<model::OnePropertyCheck>(&check);
      if (one != nullptr && !give(one->properties.front())) return std::nullopt;
    }
    return values;
  }

  void add_type(const model::ItemType& type) {
    const auto values = values_of(type);
    const std::string id = "kit-" + type.id;
    bool made = false;
    if (values) {
      for (const std::string& place : places_of(type))
        made = add(place, id, type.id, *values) || made;
    }
    for (const auto& [source, target] :
         {std::pair("/software/items/", "items"), std::pair("/software/services/", "services"),
          std::pair("/infrastructure/storage/managed_files/", "managed_files")}) {
      if (model_.tree.find(*model::Path::parse(source + id)) == nullptr) continue;
      inherit(std::string("/deployments/d/clusters/c/nodes/n1/") + target, id, source + id);
    }
    if (!made) model_.skipped.push_back(type.id);
  }

  // Collections of what the sample has where an item of the type may stand.
  std::vector<std::string> places_of(const model::ItemType& type) const {
    std::vector<std::string> places;
    find_places(model_.tree.root(), type, places);
    return places;
  }

  static void find_places(const model::Node& node, const model::ItemType& type,
                          std::vector<std::string>& places) {
    constexpr std::size_t kPlacesMax = 8;
    if (node.item().item_class == model::ItemClass::Collection && node.source() == nullptr &&
        type.is_a(*node.item().type) && places.size() < kPlacesMax) {
      places.push_back(node.path().text());
    }
    for (const auto& child : node.children()) find_places(*child, type, places);
  }

  KitModel& model_;
  const model::SchemaPtr& schema_;
  const std::string& pack_;
  Maker maker_;
};

void collect(const model::Node& node, std::vector<const model::Node*>& all) {
  all.push_back(&node);
  for (const auto& child : node.children()) collect(*child, all);
}

}  // namespace

model::Declaration read_declaration(const document::Document& file, document::Problems& problems) {
  return read_item(file, file.root, problems);
}

KitModel declared_model(std::string name, const model::SchemaPtr& schema,
                        const model::Declaration& declaration, PluginHost& host) {
  KitModel made{std::move(name), model::empty_model(*schema)};
  Maker maker(made, schema, host);
  made.problems = maker.make([&](const model::Answers& answers) {
    return model::apply(made.tree, *schema, model::Path(), declaration, model::Prune::Nothing,
                        answers);
  });
  return made;
}

KitModel sample_model(const model::SchemaPtr& schema, const std::string& pack, PluginHost& host) {
  KitModel made{"a sample of the pack's types", model::empty_model(*schema)};
  SampleMaker(made, schema, pack, host).make();
  return made;
}

void set_all_states(model::Tree& tree, model::ItemState state, const std::string& only_pack) {
  std::vector<const model::Node*> all;
  collect(tree.root(), all);
  for (const model::Node* node : all) {
    if (!only_pack.empty() && node->item().type->pack != only_pack) continue;
    auto item = std::make_shared<model::Item>(node->item());
    item->set_state(state, node->merged());
    tree.replace(*node, std::move(item));
  }
}

}  // namespace muster::plugin
