#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "base/error.h"
#include "controller/action_json.h"
#include "controller/agent_json.h"
#include "controller/api_openapi.h"
#include "controller/api_test_util.h"
#include "controller/event_json.h"

// api/openapi.yaml and docs/errors.md say what the program does, no less and no more.

namespace muster::controller {
namespace {

using ::testing::ElementsAreArray;

const Json& contract() {
  static const Json document = *yaml_to_json(openapi_yaml());
  return document;
}

std::set<std::string> all_codes() {
  std::set<std::string> codes;
  for (int i = 0; i <= static_cast<int>(ErrorCode::Internal); ++i) {
    codes.emplace(name(static_cast<ErrorCode>(i)));
  }
  return codes;
}

const Json& resolve(const Json& value) {
  if (!value.contains("$ref")) return value;
  return contract().at(Json::json_pointer(value.at("$ref").get<std::string>().substr(1)));
}

// The names that a schema requires, its parts included.
std::set<std::string> required_of(const Json& schema) {
  const Json& target = resolve(schema);
  std::set<std::string> names;
  for (const Json& name : target.value("required", Json::array())) names.insert(name);
  for (const Json& part : target.value("allOf", Json::array())) names.merge(required_of(part));
  return names;
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

std::set<std::string> required_by(const std::string& schema) {
  return required_of(contract().at("components").at("schemas").at(schema));
}

void walk(const Json& value, const std::function<void(const std::string&, const Json&)>& visit) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      visit(key, child);
      walk(child, visit);
    }
  } else if (value.is_array()) {
    for (const Json& child : value) walk(child, visit);
  }
}

class ContractTest : public ::testing::Test {
 protected:
  store::MemoryStore store_;
  testing::ApiRig rig_{store_};
};

TEST_F(ContractTest, NamesEveryRouteAndNoOther) {
  std::set<std::string> routes;
  for (const http::Router::Route& route : rig_.router->routes()) {
    routes.insert(route.method + " " + route.pattern);
  }
  static const std::set<std::string> kMethods = {"get", "put", "post", "patch", "delete"};
  std::set<std::string> described;
  for (const auto& [path, item] : contract().at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (!kMethods.contains(method)) continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
      described.insert(upper + " " + path);
    }
  }
  EXPECT_THAT(described, ElementsAreArray(routes));
}

TEST_F(ContractTest, ResolvesEveryReference) {
  walk(contract(), [](const std::string& key, const Json& value) {
    if (key != "$ref") return;
    const Json::json_pointer pointer(value.get<std::string>().substr(1));
    EXPECT_TRUE(contract().contains(pointer)) << value;
  });
}

TEST_F(ContractTest, NamesExistingErrorCodesAndAllOfThem) {
  const std::set<std::string> codes = all_codes();
  const Json& listed = contract().at("components").at("schemas").at("ErrorCode").at("enum");
  EXPECT_THAT(listed.get<std::set<std::string>>(), ElementsAreArray(codes));
  std::set<std::string> answered;
  walk(contract(), [&](const std::string& key, const Json& value) {
    if (key == "x-codes") {
      for (const Json& code : value) answered.insert(code);
    }
    if (key == "code" && value.is_string()) answered.insert(value);
  });
  EXPECT_THAT(answered, ElementsAreArray(codes));
}

TEST_F(ContractTest, PutsEachErrorCodeUnderItsStatus) {
  const Json& responses = contract().at("components").at("responses");
  for (const auto& [path, item] : contract().at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (!operation.is_object() || !operation.contains("responses")) continue;
      for (const auto& [status, response] : operation.at("responses").items()) {
        const Json& target = resolve(response);
        if (std::stoi(status) >= 400) {
          EXPECT_TRUE(target.at("content").contains("application/problem+json")) << path;
        }
        for (const Json& code : target.value("x-codes", Json::array())) {
          for (int i = 0; i <= static_cast<int>(ErrorCode::Internal); ++i) {
            const auto value = static_cast<ErrorCode>(i);
            if (name(value) == code) {
              EXPECT_EQ(http::http_status(value), std::stoi(status)) << path << " " << code;
            }
          }
        }
      }
    }
  }
  EXPECT_FALSE(responses.empty());
}

TEST_F(ContractTest, ExplainsEveryErrorCodeInTheDocumentation) {
  std::ifstream file(MUSTER_SOURCE_DIR "/docs/errors.md");
  ASSERT_TRUE(file.is_open());
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string code = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(lines.emplace(code, line).second) << code << " stands twice";
  }
  for (int i = 0; i <= static_cast<int>(ErrorCode::Internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const auto found = lines.find(std::string(name(code)));
    ASSERT_NE(found, lines.end()) << name(code) << " has no line in docs/errors.md";
    const std::string status = std::to_string(http::http_status(code));
    EXPECT_TRUE(found->second.find("| " + status + " |") != std::string::npos ||
                found->second.find("| – |") != std::string::npos)
        << found->second;
    lines.erase(found);
  }
  for (const auto& [code, line] : lines) ADD_FAILURE() << "there is no error code " << code;
}

TEST_F(ContractTest, ShowsExactlyTheFieldsOfTheSchemas) {
  rig_.controller.connect_agent("db1", 1);
  const std::string id =
      rig_.create({{"action", "noop"}, {"target", "db1"}, {"approval", true}, {"name", "a"}});
  const Json action = rig_.get("/v1/actions/" + id).json.at("action");
  EXPECT_THAT(keys_of(action), ElementsAreArray(required_by("Action")));
  const Json row = rig_.get("/v1/actions").json.at("actions").at(0);
  EXPECT_THAT(keys_of(row), ElementsAreArray(required_by("ActionRow")));
  const Json explain = rig_.get("/v1/actions/a/explain").json.at("explain");
  EXPECT_THAT(keys_of(explain), ElementsAreArray(required_by("Explanation")));
  const Json agent = rig_.get("/v1/agents").json.at("agents").at(0);
  EXPECT_THAT(keys_of(agent), ElementsAreArray(required_by("Agent")));
  const Json event = rig_.get("/v1/events").json.at("events").at(0);
  EXPECT_THAT(keys_of(event), ElementsAreArray(required_by("Event")));
  const Json status = rig_.get("/v1/status").json;
  EXPECT_THAT(keys_of(status), ElementsAreArray(required_by("ControllerStatus")));
}

TEST_F(ContractTest, AcceptsExactlyTheRequestFieldsOfTheSchema) {
  const Json& properties =
      contract().at("components").at("schemas").at("ActionRequest").at("properties");
  // A value of the wrong type tells that a field is known; an unknown one is told as such.
  for (const auto& [field, schema] : properties.items()) {
    const testing::Answer answer =
        rig_.post("/v1/actions", {{"action", {{"action", "noop"}, {field, Json::array({1})}}}});
    for (const Json& error : answer.json.value("errors", Json::array())) {
      EXPECT_NE(error.at("code"), "unknown_field") << field;
    }
  }
}

TEST_F(ContractTest, IsServedAsJson) {
  for (const char* path : {"/openapi.json", "/v1/openapi.json"}) {
    const testing::Answer answer = rig_.get(path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    EXPECT_EQ(answer.json, contract());
    EXPECT_EQ(answer.json.at("openapi"), "3.1.0");
  }
}

TEST(Yaml, GivesScalarsTheirTypes) {
  EXPECT_EQ(
      *yaml_to_json("{a: 1, b: '1', c: 1.5, d: true, e: null, f: [x, ~], '202': y}"),
      parse_json(R"({"a":1,"b":"1","c":1.5,"d":true,"e":null,"f":["x",null],"202":"y"})").value());
  EXPECT_EQ(yaml_to_json("{a: [").error().code, ErrorCode::DecodeFailed);
}

}  // namespace
}  // namespace muster::controller
