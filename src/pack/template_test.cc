#include "plan/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "document/reader.h"
#include "model/edit.h"
#include "pack/decode.h"
#include "pack/shipped.h"

// Templates from their text to tasks; first those of the packs that ship, then what can be wrong.

namespace muster::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const LoadedPacks& shipped() {
  static const LoadedPacks kLoaded = [] {
    const Result<LoadRequest> request = all_packs({.packs = MUSTER_PACKS});
    return request ? load_packs(*request) : LoadedPacks();
  }();
  return kLoaded;
}

model::Path at(const std::string& text) { return *model::Path::parse(text); }

constexpr const char* kCluster = "/deployments/d/clusters/c";
constexpr const char* kN1 = "/deployments/d/clusters/c/nodes/n1";

class Templates : public ::testing::Test {
 protected:
  Templates() : tree_(model::empty_model(*shipped().schema)) {
    create("/deployments", "d", "deployment");
    create("/deployments/d/clusters", "c", "cluster");
    create(std::string(kCluster) + "/nodes", "n1", "node",
           {{"hostname", "one"}, {"domain", "example.org"}});
    create(std::string(kCluster) + "/nodes", "n2", "node", {{"hostname", "two"}});
  }

  void edit(model::Operation operation) {
    const model::EditOutcome made =
        model::edit(tree_, *shipped().schema, {std::move(operation)}, model::Actor::User);
    for (const auto& error : made.errors) ADD_FAILURE() << error.path.text() << error.message;
    ASSERT_THAT(made.questions, IsEmpty());
  }
  void create(const std::string& parent, const std::string& id, const std::string& type,
              model::GivenProperties properties = {}) {
    edit(model::CreateItem{at(parent), id, type, std::move(properties)});
  }
  // A thing of the software, taken over by n1.
  void create_on_n1(const std::string& id, const std::string& type,
                    model::GivenProperties properties) {
    create("/software/items", id, type, std::move(properties));
    edit(model::InheritItem{at(std::string(kN1) + "/items"), id, at("/software/items/" + id), {}});
  }
  void set_state(const std::string& path, model::ItemState state) {
    const model::Node* node = tree_.find(at(path));
    auto item = std::make_shared<model::Item>(node->item());
    item->set_state(state, node->merged());
    tree_.replace(*node, std::move(item));
  }
  std::vector<plan::Task> tasks() {
    plan::TemplateTasks made = plan::template_tasks(tree_, shipped().templates);
    for (const auto& error : made.errors) ADD_FAILURE() << error.item.text() << error.message;
    return std::move(made.tasks);
  }
  static const plan::ConfigWork& config(const plan::Task& task) {
    return std::get<plan::ConfigWork>(task.work);
  }
  static Json attributes(const plan::Task& task) { return *parse_json(config(task).attributes); }

  model::Tree tree_;
};

TEST_F(Templates, MakeATaskForEachItemThatANodeTakesOver) {
  create_on_n1("nginx", "package", {{"name", "nginx"}, {"version", "1.2"}});
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(1));  // and none for what is only declared in /software
  EXPECT_EQ(made[0].plugin, "packages");
  EXPECT_EQ(made[0].item.text(), std::string(kN1) + "/items/nginx");
  EXPECT_EQ(made[0].description, "Bring package nginx to 'installed' 1.2");
  EXPECT_EQ(config(made[0]).node.text(), kN1);
  EXPECT_EQ(config(made[0]).call, (plan::Call{"package", "nginx"}));
  EXPECT_EQ(attributes(made[0]), (Json{{"ensure", "installed"},
                                       {"version", "1.2"},
                                       {"manager", "auto"},
                                       {"hold", "false"},
                                       {"recommends", "false"}}));
}

TEST_F(Templates, DescribeWithoutABlankForWhatIsUnset) {
  create_on_n1("nginx", "package", {{"name", "nginx"}});
  EXPECT_EQ(tasks().at(0).description, "Bring package nginx to 'installed'");
  const auto described = [&](std::string_view text) {
    plan::TaskTemplate made;
    made.pack = "packages";
    made.type = "package";
    made.states = {model::ItemState::Initial};
    EXPECT_EQ(plan::parse_template_text(text, made.description), "");
    EXPECT_EQ(plan::parse_template_text("package", made.call.type), "");
    EXPECT_EQ(plan::parse_template_text("${name}", made.call.id), "");
    const plan::BuiltTemplates built = plan::build_templates({made}, *shipped().schema, {});
    EXPECT_THAT(built.errors, IsEmpty());
    return plan::template_tasks(tree_, built.templates.value()).tasks.at(0).description;
  };
  EXPECT_EQ(described("a ${version?} b"), "a b");
  EXPECT_EQ(described("a ${version?}, b"), "a, b");
  EXPECT_EQ(described("a ${version?}b"), "a b");
  EXPECT_EQ(described("a${version?} b"), "a b");
  EXPECT_EQ(described("a${version?}b"), "ab");
  EXPECT_EQ(described("${version?} b ${version?} ${version?}"), "b");
  EXPECT_EQ(described("a ${version?}${release?} ${name} ${version?}."), "a nginx.");
}

TEST_F(Templates, FollowTheStateOfTheItem) {
  create_on_n1("nginx", "package", {{"name", "nginx"}});
  const std::string path = std::string(kN1) + "/items/nginx";
  set_state(path, model::ItemState::Applied);
  EXPECT_THAT(tasks(), IsEmpty());
  set_state(path, model::ItemState::Updated);
  EXPECT_THAT(tasks(), SizeIs(1));
  set_state(path, model::ItemState::ForRemoval);
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_EQ(attributes(tasks()[0]), (Json{{"ensure", "absent"}, {"manager", "auto"}}));
  set_state(kN1, model::ItemState::ForRemoval);
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST_F(Templates, WhatAClusterHasIsMadeOnEachOfItsNodes) {
  create(std::string(kCluster) + "/configs", "s", "cluster-sysctl-config");
  const std::string settings = std::string(kCluster) + "/configs/s/settings";
  create(settings, "forward", "sysctl-setting", {{"key", "net.ipv4.ip_forward"}, {"value", "1"}});
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(2));
  EXPECT_EQ(config(made[0]).node.id(), "n1");
  EXPECT_EQ(config(made[1]).node.id(), "n2");
  EXPECT_EQ(config(made[0]).call.id, "50-muster-cluster/net.ipv4.ip_forward");
  EXPECT_EQ(attributes(made[0])["apply_now"], "true");  // of its parent

  // All is done, and then a node is added.
  for (const char* path : {"", "/settings", "/settings/forward"}) {
    set_state(std::string(kCluster) + "/configs/s" + path, model::ItemState::Applied);
  }
  set_state(kN1, model::ItemState::Applied);
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_EQ(config(tasks()[0]).node.id(), "n2");
}

TEST_F(Templates, SecretsStandInTasksOnlyByName) {
  create("/infrastructure/storage/managed_files", "key", "secret-file",
         {{"path", "/etc/key"}, {"secret_content", "sesame"}});
  edit(model::InheritItem{at(std::string(kN1) + "/managed_files"),
                          "key",
                          at("/infrastructure/storage/managed_files/key"),
                          {}});
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_TRUE(made[0].has_future);
  EXPECT_EQ(attributes(made[0])["content"], Json::parse(R"({"$future": {"item":
              "/deployments/d/clusters/c/nodes/n1/managed_files/key",
              "property": "secret_content"}})"));
}

TEST_F(Templates, TextsAreFilledWithPropertiesOfTheNode) {
  create("/infrastructure/storage/managed_files", "motd", "template-file",
         {{"path", "/etc/motd"}, {"template", "{{ hostname }}.{{domain}} of {{ cluster.id }} {{"}});
  const model::Path source = at("/infrastructure/storage/managed_files/motd");
  edit(model::InheritItem{at(std::string(kN1) + "/managed_files"), "motd", source, {}});
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_EQ(attributes(tasks()[0])["content"], "one.example.org of c {{");

  edit(model::UpdateItem{source, {{"template", "{{ hostnam }}"}}, {}});
  const plan::TemplateTasks wrong = plan::template_tasks(tree_, shipped().templates);
  EXPECT_THAT(wrong.tasks, IsEmpty());
  ASSERT_THAT(wrong.errors, SizeIs(1));
  EXPECT_EQ(wrong.errors[0].item.text(), std::string(kN1) + "/managed_files/motd");
  EXPECT_THAT(wrong.errors[0].message, HasSubstr("did you mean 'hostname'?"));
  EXPECT_THAT(to_text(wrong.errors[0].place), HasSubstr("files/templates/files.yaml:"));
}

TEST_F(Templates, MembersOfACollectionAreCollected) {
  create_on_n1("run", "exec", {{"command", "env"}});
  create("/software/items/run/environment", "a", "exec-variable", {{"name", "A"}, {"value", "1"}});
  create("/software/items/run/environment", "b", "exec-variable",
         {{"name", "B"}, {"secret_value", "2"}});
  const std::string path = std::string(kN1) + "/items/run";
  auto made = tasks();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(attributes(made[0])["environment"]["A"], "1");
  EXPECT_TRUE(attributes(made[0])["environment"]["B"].contains("$future"));
  EXPECT_THAT(made[0].model_items, SizeIs(2));

  // A change of a member is a change of the whole.
  for (const char* part : {"", "/environment", "/environment/a", "/environment/b"}) {
    set_state(path + part, model::ItemState::Applied);
  }
  EXPECT_THAT(tasks(), IsEmpty());
  set_state(path + "/environment/a", model::ItemState::ForRemoval);
  made = tasks();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_FALSE(attributes(made[0])["environment"].contains("A"));
  EXPECT_THAT(made[0].model_items, ElementsAre(at(path + "/environment/a")));
}

TEST_F(Templates, ATaskCanDependOnAPropertyBeingSet) {
  create_on_n1("plain", "exec", {{"command", "true"}});
  create_on_n1("undone", "exec", {{"command", "true"}, {"remove_command", "undo"}});
  for (const char* id : {"plain", "undone"}) {
    set_state(std::string(kN1) + "/items/" + id, model::ItemState::ForRemoval);
  }
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(attributes(made[0])["command"], "undo");
  EXPECT_FALSE(config(made[0]).persist);
}

TEST_F(Templates, OneResourceCanRequireAnother) {
  create_on_n1("ann", "user", {{"name", "ann"}, {"password_hash", "!"}});
  create("/software/items/ann/ssh_keys", "laptop", "ssh-key", {{"key", "ssh-ed25519 AAAA ann"}});
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(2));
  EXPECT_EQ(config(made[1]).call, (plan::Call{"ssh_key", "ann/laptop"}));
  const std::vector<plan::Requirement> wanted = {plan::RequiredCall{{"user", "ann"}}};
  EXPECT_EQ(made[1].requirements, wanted);
}

// Whatever of it is on the node comes first. What is named does not depend on what there is, so a
// task stays the same when something is added.
TEST_F(Templates, APathRequiresWhatIsAboveIt) {
  create("/infrastructure/storage/managed_files", "f", "file",
         {{"path", "/a/b/c"}, {"content", "x"}, {"owner", "ann"}});
  edit(model::InheritItem{at(std::string(kN1) + "/managed_files"),
                          "f",
                          at("/infrastructure/storage/managed_files/f"),
                          {}});
  const auto made = tasks();
  ASSERT_THAT(made, SizeIs(1));
  const auto call = [](const char* type, const char* id) -> plan::Requirement {
    return plan::RequiredCall{{type, id}};
  };
  EXPECT_THAT(made[0].requirements,
              ElementsAre(call("user", "ann"), call("group", "root"), call("directory", "/a/b"),
                          call("directory", "/a"), call("link", "/a/b"), call("link", "/a"),
                          call("package", "")));
}

// Every type of the shipped packs that can stand on a node makes something there, and is removed.
TEST_F(Templates, CoverTheShippedTypes) {
  for (const auto& [id, type] : shipped().schema->item_types()) {
    const bool lands = type->is_a("software-item") || type->is_a("managed-file-base") ||
                       (type->is_a("service-base") && type->pack == "services");
    if (!lands || type->is_abstract) continue;
    std::set<model::ItemState> states;
    for (const plan::TaskTemplate* one : shipped().templates.of(*type)) {
      states.insert(one->states.begin(), one->states.end());
    }
    EXPECT_THAT(states, SizeIs(3)) << id;
  }
}

// --- Types of one pack below those of another. ---

TEST(ReusedTypes, MakeTasksWhereTheirParentsHaveWhatIsNamed) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("muster-reuse-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "types");
  std::ofstream(folder / "pack.yaml")
      << "name: reuse\nversion: 1\nneeds: {core: '1', users: '1', sysctl: '1'}\n";
  std::ofstream(folder / "types" / "t.yaml")
      << "item_types:\n"
         "  my-host:\n"
         "    extends: node-config\n"
         "    elements: {k: {child: ssh-key}, s: {collection: sysctl-setting}}\n"
         "  my-file:\n"
         "    extends: node-config\n"
         "    properties:\n"
         "      file: {type: basic_name, default: mine}\n"
         "      apply_now: {type: basic_boolean}\n"
         "    elements: {s: {collection: sysctl-setting}}\n"
         "  my-secret:\n"
         "    extends: node-config\n"
         "    properties: {name: {type: secret_string, secret: true}}\n"
         "    elements: {k: {child: ssh-key}}\n";
  const auto request = all_packs({.packs = MUSTER_PACKS, .extra = {folder.string()}});
  const LoadedPacks loaded = load_packs(*request);
  std::filesystem::remove_all(folder);
  for (const auto& problem : loaded.problems) ADD_FAILURE() << to_text(problem);
  ASSERT_NE(loaded.schema, nullptr);

  model::Tree tree = model::empty_model(*loaded.schema);
  const auto create = [&](const char* parent, const char* id, const char* type,
                          model::GivenProperties properties = {}) {
    const auto made = model::edit(tree, *loaded.schema,
                                  {model::CreateItem{at(parent), id, type, std::move(properties)}},
                                  model::Actor::User);
    for (const auto& error : made.errors) ADD_FAILURE() << error.message;
  };
  create("/ms/configs", "h", "my-host");
  create("/ms/configs/h", "k", "ssh-key", {{"key", "ssh-ed25519 AAAA x"}});
  create("/ms/configs/h/s", "a", "sysctl-setting", {{"key", "a.b"}, {"value", "1"}});
  create("/ms/configs", "u", "my-file");  // one of the two is unset
  create("/ms/configs/u/s", "a", "sysctl-setting", {{"key", "a.b"}, {"value", "1"}});
  create("/ms/configs", "z", "my-secret", {{"name", "sesame"}});
  create("/ms/configs/z", "k", "ssh-key", {{"key", "ssh-ed25519 AAAA x"}});
  create("/ms/configs", "f", "my-file", {{"apply_now", "true"}});
  create("/ms/configs/f/s", "a", "sysctl-setting", {{"key", "a.b"}, {"value", "1"}});
  const plan::TemplateTasks made = plan::template_tasks(tree, loaded.templates);
  EXPECT_TRUE(made.good());
  ASSERT_THAT(made.tasks, SizeIs(1));
  EXPECT_EQ(std::get<plan::ConfigWork>(made.tasks[0].work).call,
            (plan::Call{"sysctl", "mine/a.b"}));
}

// --- What can be wrong. ---

class WrongTemplates : public ::testing::Test {
 protected:
  // Templates of a pack "packages" in place of its own.
  static std::vector<std::string> problems(const std::string& text) {
    document::Problems found;
    document::ReadDocument read = document::read_document(text, "t.yaml");
    found.add(std::move(read.problems));
    auto templates = decode_templates(read.document, "packages", found);
    std::vector<std::string> told;
    for (const auto& problem : std::move(found).take()) told.push_back(to_text(problem));
    if (!told.empty()) return told;
    plan::BuiltTemplates built =
        plan::build_templates(std::move(templates), *shipped().schema, {"DEPLOYMENT_NODE_TAG"});
    EXPECT_EQ(built.templates.has_value(), built.errors.empty());
    for (const auto& error : built.errors) {
      told.push_back(to_text(document::Problem{error.place, error.message}));
    }
    return told;
  }
  // Of one template of `package` that has more fields.
  static std::vector<std::string> with(const std::string& more) {
    return problems("templates:\n- type: package\n  description: x\n" + more);
  }
};

TEST_F(WrongTemplates, ARightOneHasNoProblem) {
  EXPECT_THAT(with("  call: {type: package, id: '${name}'}\n  tag: DEPLOYMENT_NODE_TAG\n"),
              IsEmpty());
  EXPECT_THAT(with("  task: remote\n  action: exec\n  inputs: {argv: ['$${x}', '${name}']}\n"),
              IsEmpty());
}

TEST_F(WrongTemplates, FieldsAreToldWithTheirPlaces) {
  EXPECT_THAT(
      problems("templates:\n- tpe: package\n  states: [Aplied]\n  call: {type: a}\n"),
      ElementsAre("t.yaml:2:3: a template has no 'description'",
                  "t.yaml:2:3: a template has no 'type'",
                  "t.yaml:2:3: a template has no field 'tpe'; did you mean 'type'?",
                  HasSubstr("t.yaml:3:11: 'Aplied' is none of Initial, Updated and ForRemoval"),
                  "t.yaml:4:9: a call has no 'id'"));
  EXPECT_THAT(with("  task: remote\n"), ElementsAre(HasSubstr("'action'")));
  EXPECT_THAT(with(""), ElementsAre(HasSubstr("has a 'call'")));
}

TEST_F(WrongTemplates, ReferencesAreChecked) {
  const auto id = [](const std::string& text) {
    return with("  call: {type: package, id: '" + text + "'}\n");
  };
  EXPECT_THAT(id("${nam}"), ElementsAre(AllOf(HasSubstr("t.yaml:4:"), HasSubstr("has no property"),
                                              HasSubstr("did you mean 'name'?"))));
  EXPECT_THAT(id("${name"), ElementsAre(HasSubstr("has no '}'")));
  EXPECT_THAT(id("${other.name}"), ElementsAre(HasSubstr("item, parent, node or cluster")));
  EXPECT_THAT(id("${node:name}"), ElementsAre(HasSubstr("may have 'id' or 'path' after ':'")));
  EXPECT_THAT(id("${a b}"), ElementsAre(HasSubstr("not the name of a property")));
  EXPECT_THAT(id("${version}"), ElementsAre(HasSubstr("'version' may be unset")));
  EXPECT_THAT(id("${version?}"), ElementsAre(HasSubstr("has no place here")));
  EXPECT_THAT(id("${node.is_locked}"), ElementsAre(HasSubstr("may be unset")));
  EXPECT_THAT(id("${cluster:id}"), ElementsAre(HasSubstr("has no cluster")));
  // A clustered service has software below it, and a name; no parent has the other.
  EXPECT_THAT(id("${parent.name}"), IsEmpty());
  EXPECT_THAT(id("${parent.nam}"), ElementsAre(HasSubstr("has no property 'nam'")));
}

TEST_F(WrongTemplates, TypesTagsAndTwinsAreChecked) {
  const std::string call = "  call: {type: package, id: '${name}'}\n";
  EXPECT_THAT(problems("templates:\n- type: pakage\n  description: x\n" + call),
              ElementsAre(HasSubstr("did you mean 'package'?")));
  EXPECT_THAT(problems("templates:\n- type: file\n  description: x\n  call: {type: a, id: b}\n"),
              ElementsAre(HasSubstr("is of pack 'files'")));
  EXPECT_THAT(with(call + "  tag: DEPLOYMENT_NOD_TAG\n"),
              ElementsAre(HasSubstr("did you mean 'DEPLOYMENT_NODE_TAG'?")));
  EXPECT_THAT(with(call + "- type: package\n  description: y\n" + call),
              ElementsAre(HasSubstr("the template at t.yaml:2:3 makes the same resource")));
  EXPECT_THAT(with(call + "  if_set: nothing\n"), ElementsAre(HasSubstr("has no property")));
  EXPECT_THAT(with(call + "  attributes: {a: {collect: parts, key: x, value: y}}\n"),
              ElementsAre(HasSubstr("has no collection 'parts'")));
}

TEST_F(WrongTemplates, RequirementsAreChecked) {
  const std::string call = "  call: {type: package, id: '${name}'}\n";
  EXPECT_THAT(with(call + "  requires: [{every: user}, {type: a, each: '${version?}'},\n"
                          "    {type: b, above: '/x/${name}'}]\n  absent_if: {ensure: [a, b]}\n"),
              IsEmpty());
  EXPECT_THAT(with(call + "  requires: [{every: package}]\n"),
              ElementsAre(HasSubstr("every resource of its own type")));
  EXPECT_THAT(
      with(call + "  requires: [{every: a, id: b}, {type: a}, {type: a, above: b, id: c}]\n"),
      ElementsAre(HasSubstr("has no field 'id'"), HasSubstr("has no 'id'"),
                  HasSubstr("has no field 'id'")));
  EXPECT_THAT(with(call + "  requires: [{type: a, id: '${vers}'}]\n"),
              ElementsAre(HasSubstr("did you mean 'version'?")));
  EXPECT_THAT(with(call + "  absent_if: absent\n"), ElementsAre(HasSubstr("names one property")));
  EXPECT_THAT(with(call + "  absent_if: {ensur: absent}\n"),
              ElementsAre(HasSubstr("did you mean 'ensure'?")));
}

TEST_F(WrongTemplates, ASecretIsAWholeAttributeOrNothing) {
  const auto user = [](const std::string& more) {
    document::Problems found;
    document::ReadDocument read = document::read_document(
        "templates:\n- type: user\n  description: x\n  call: {type: user, id: '${name}'}\n" + more,
        "t.yaml");
    auto templates = decode_templates(read.document, "users", found);
    EXPECT_TRUE(found.empty());
    return plan::build_templates(std::move(templates), *shipped().schema, {}).errors;
  };
  EXPECT_THAT(user("  attributes: {p: '${password_hash?}'}\n"), IsEmpty());
  const auto errors = user("  attributes: {p: 'x${password_hash?}'}\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message, HasSubstr("is a secret; it can only be a whole attribute"));
}

}  // namespace
}  // namespace muster::pack
