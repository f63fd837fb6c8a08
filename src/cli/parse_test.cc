#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/address.h"
#include "cli/api_client.h"
#include "cli/inputs.h"
#include "cli/numbers.h"
#include "cli/submit.h"
#include "cli/yaml.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

constexpr Timestamp kNow{1'763'233'200'000'000};  // 2025-11-15T19:00:00Z

Json inputs_of(const std::vector<std::string>& texts) {
  Json object = Json::object();
  for (const std::string& text : texts) {
    const Result<void> applied = apply_input(object, text);
    EXPECT_TRUE(applied.has_value()) << text;
  }
  return object;
}

TEST(Input, IsJsonIfItParsesElseText) {
  EXPECT_EQ(
      inputs_of({"n=5", "b=true", "s=hello world", "q=\"5\"", "l=[1,2]", "e="}),
      (Json{{"n", 5}, {"b", true}, {"s", "hello world"}, {"q", "5"}, {"l", {1, 2}}, {"e", ""}}));
  EXPECT_EQ(inputs_of({"url=http://h/?a=b"}), (Json{{"url", "http://h/?a=b"}}));
}

TEST(Input, NestsAtDots) {
  EXPECT_EQ(inputs_of({"env.PATH=/bin", "env.HOME=/", "a\\.b=1"}),
            (Json{{"env", {{"PATH", "/bin"}, {"HOME", "/"}}}, {"a.b", 1}}));
}

TEST(Input, RefusesWhatHasNoPlace) {
  Json object = Json::object();
  EXPECT_FALSE(apply_input(object, "novalue").has_value());
  EXPECT_FALSE(apply_input(object, "=5").has_value());
  EXPECT_FALSE(apply_input(object, "a..b=5").has_value());
  ASSERT_TRUE(apply_input(object, "a=1").has_value());
  const Result<void> through = apply_input(object, "a.b=2");
  ASSERT_FALSE(through.has_value());
  EXPECT_THAT(through.error().message, HasSubstr("no object: 1"));
}

TEST(SubmitFlags, MakeTheRequest) {
  SubmitOptions options;
  options.kind = "exec";
  options.target = "a1";
  options.inputs = {"env.A=1"};
  options.depends_on = {"backup", "3f2a"};
  options.timeout = "90s";
  options.start_time = "+10m";
  options.retries = 2;
  options.backoff = "500ms";
  options.approvers = 2;
  options.hold = true;
  const std::vector<std::string> argv = {"/bin/echo", "[a,b]", "-n"};
  const Outcome<Json> action = action_from_flags(options, argv, kNow);
  ASSERT_TRUE(action.has_value());
  EXPECT_EQ(*action, (Json{{"action", "exec"},
                           {"target", "a1"},
                           {"inputs", {{"argv", argv}, {"env", {{"A", 1}}}}},
                           {"depends_on", {"backup", "3f2a"}},
                           {"timeout", "90s"},
                           {"start_time", "2025-11-15T19:10:00Z"},
                           {"retry", {{"attempts", 3}, {"backoff", "500ms"}}},
                           {"approval", {{"count", 2}}},
                           {"hold", true}}));
}

TEST(SubmitFlags, SendNothingThatWasNotSaid) {
  SubmitOptions options;
  options.kind = "noop";
  const Outcome<Json> action = action_from_flags(options, std::nullopt, kNow);
  ASSERT_TRUE(action.has_value());
  EXPECT_EQ(*action, (Json{{"action", "noop"}}));
}

TEST(SubmitFlags, RefuseSlipsAsUsage) {
  const auto exit_of = [](auto&& change) {
    SubmitOptions options;
    options.kind = "exec";
    std::optional<std::vector<std::string>> argv;
    change(options, argv);
    const Outcome<Json> action = action_from_flags(options, argv, kNow);
    return action ? ExitCode::Ok : action.error().exit;
  };
  using Argv = std::optional<std::vector<std::string>>;
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv&) { o.timeout = "soon"; }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv&) { o.start_time = "tomorrow"; }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv&) { o.backoff = "soon"; }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv&) { o.inputs_json = "[1]"; }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv&) { o.inputs_json = "{"; }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions&, Argv& argv) { argv.emplace(); }), ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv& argv) {
              o.kind = "noop";
              argv = {"/bin/true"};
            }),
            ExitCode::Usage);
  EXPECT_EQ(exit_of([](SubmitOptions& o, Argv& argv) {
              o.inputs = {"script=true"};
              argv = {"/bin/true"};
            }),
            ExitCode::Usage);
}

TEST(SubmitFile, TakesAllItsShapes) {
  const Json one = {{"action", {{"action", "noop"}, {"name", "x"}}}};
  const auto body = [](std::string_view text) {
    const Outcome<Json> parsed = body_from_text(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    return parsed ? *parsed : Json();
  };
  EXPECT_EQ(body(R"({"action":{"action":"noop","name":"x"}})"), one);
  EXPECT_EQ(body(R"({"action":"noop","name":"x"})"), one);
  EXPECT_EQ(body("action: noop\nname: x\n"), one);
  EXPECT_EQ(body("{action: noop, name: x}"), one);
  const Json two = {{"actions", {{{"action", "noop"}}, {{"action", "sleep"}}}}};
  EXPECT_EQ(body("actions:\n- action: noop\n- action: sleep\n"), two);
  EXPECT_EQ(body("- action: noop\n- action: sleep\n"), two);
  EXPECT_EQ(body("---\naction: noop\n---\naction: sleep\n"), two);
  EXPECT_FALSE(body_from_text("name: x\n").has_value());
  EXPECT_FALSE(body_from_text("just words").has_value());
  EXPECT_FALSE(body_from_text("{\"a\": ").has_value());
}

TEST(Yaml, ReadsScalarsAsTheCoreSchemaDoes) {
  const Result<Json> value = parse_yaml(
      "a: 1\nb: 1.5\nc: true\nd: yes\ne: '1'\nf: ~\ng: 0660\nh: 2026-11-15\ni: \"\"\nj:\n");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(*value, (Json{{"a", 1},
                          {"b", 1.5},
                          {"c", true},
                          {"d", "yes"},
                          {"e", "1"},
                          {"f", nullptr},
                          {"g", 660},
                          {"h", "2026-11-15"},
                          {"i", ""},
                          {"j", nullptr}}));
}

TEST(Yaml, RefusesWhatWouldBeGuesswork) {
  EXPECT_FALSE(parse_yaml("a: 1\na: 2\n").has_value());
  EXPECT_FALSE(parse_yaml("? [x]\n: 1\n").has_value());
  EXPECT_FALSE(parse_yaml("a: [1\n").has_value());
  const Result<Json> bytes = parse_yaml("a: 1\nb: \xff\n");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().message, "not UTF-8: line 2 has the byte 0xff");
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("{}*a{}", j == 0 ? "" : ",", i - 1);
    bomb += "]\n";
  }
  EXPECT_FALSE(parse_yaml(bomb).has_value());
}

rc::Gen<Json> any_json(int depth) {
  auto text = rc::gen::map(
      rc::gen::container<std::string>(rc::gen::element('a', '1', ':', ' ', '\n', '#', '-', '\'',
                                                       '"', '~', '.', 'e', '\t', '{', '&', '*')),
      [](std::string value) { return Json(std::move(value)); });
  auto number = rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                             [](std::int64_t value) { return Json(value); });
  auto word = rc::gen::map(rc::gen::element(std::string("true"), std::string("null"),
                                            std::string("no"), std::string("1e3")),
                           [](std::string value) { return Json(std::move(value)); });
  auto flag = rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return Json(value); });
  if (depth == 0) return rc::gen::oneOf(text, number, word, flag, rc::gen::just(Json(nullptr)));
  auto list = rc::gen::map(rc::gen::container<std::vector<Json>>(any_json(depth - 1)),
                           [](const std::vector<Json>& items) { return Json(items); });
  auto object =
      rc::gen::map(rc::gen::container<std::map<std::string, Json>>(
                       rc::gen::element(std::string("a"), std::string("b c"), std::string("1"),
                                        std::string(""), std::string("x: y")),
                       any_json(depth - 1)),
                   [](const std::map<std::string, Json>& items) { return Json(items); });
  return rc::gen::oneOf(text, number, word, list, object);
}

RC_GTEST_PROP(Yaml, ReadsBackWhatItPrints, ()) {
  const Json value = *rc::gen::resize(6, any_json(2));
  const std::string text = dump_yaml(value);
  const Result<Json> back = parse_yaml(text);
  RC_ASSERT(back.has_value());
  if (*back != value) RC_LOG() << text << dump_json(value) << "\n" << dump_json(*back);
  RC_ASSERT(*back == value);
}

TEST(Endpoint, TakesSocketsAndUrls) {
  EXPECT_EQ(parse_endpoint("unix:/run/m.sock")->unix_socket, "/run/m.sock");
  EXPECT_EQ(parse_endpoint("unix:///run/m.sock")->unix_socket, "/run/m.sock");
  EXPECT_EQ(parse_endpoint("/run/m.sock")->unix_socket, "/run/m.sock");
  EXPECT_EQ(parse_endpoint("./m.sock")->unix_socket, "./m.sock");
  EXPECT_EQ(parse_endpoint("http://127.0.0.1:8440/")->base_url, "http://127.0.0.1:8440");
  EXPECT_FALSE(parse_endpoint("localhost:8440").has_value());
  EXPECT_FALSE(parse_endpoint("unix:").has_value());
}

TEST(Endpoint, FlagWinsOverEnvironment) {
  const GetEnv env = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "MUSTER_ADDR") return "http://127.0.0.1:1";
    return std::nullopt;
  };
  EXPECT_EQ(controller_endpoint("/x.sock", env)->unix_socket, "/x.sock");
  EXPECT_EQ(controller_endpoint("", env)->base_url, "http://127.0.0.1:1");
  const GetEnv bad = [](const char*) { return std::optional<std::string>("nonsense"); };
  EXPECT_THAT(controller_endpoint("", bad).error().message, HasSubstr("MUSTER_ADDR: "));
}

TEST(PercentEncode, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("a b/c?d=é~"), "a%20b%2Fc%3Fd%3D%C3%A9~");
  EXPECT_EQ(action_path("a/b", "/logs"), "/v1/actions/a%2Fb/logs");
}

TEST(Numbers, ReadModesAndDurations) {
  unsigned mode = 0660;
  EXPECT_TRUE(set_mode(mode, "", "--socket-mode").has_value());
  EXPECT_EQ(mode, 0660U);
  EXPECT_TRUE(set_mode(mode, "0600", "--socket-mode").has_value());
  EXPECT_EQ(mode, 0600U);
  EXPECT_FALSE(set_mode(mode, "0999", "--socket-mode").has_value());
  EXPECT_FALSE(set_mode(mode, "7777", "--socket-mode").has_value());
  Duration duration;
  EXPECT_TRUE(set_duration(duration, "30d", "--retention-age").has_value());
  EXPECT_EQ(duration, Duration::days(30));
  EXPECT_EQ(set_duration(duration, "-1s", "--retention-age").error().exit, ExitCode::Usage);
}

}  // namespace
}  // namespace muster::cli
