#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/nearest.h"
#include "core/kind/base64.h"
#include "core/kind/catalog.h"
#include "core/kind/field_reader.h"
#include "core/kind/inputs.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : Json();
}

std::string describe(const std::vector<FieldError>& errors) {
  std::string text;
  for (const FieldError& error : errors) {
    text += fmt::format("{} {}: {}\n", error.pointer, name(error.code), error.detail);
  }
  return text;
}

const std::string kSha(64, 'a');

struct GoodCase {
  std::string kind;
  std::string inputs;
};

TEST(Inputs, AcceptsWhatIsRight) {
  const std::vector<GoodCase> cases = {
      {"noop", "{}"},
      {"facts", "{}"},
      {"sleep", R"({"duration":0})"},
      {"sleep", R"({"duration":1.5})"},
      {"sleep", R"({"duration":"1h30m"})"},
      {"fail", "{}"},
      {"fail", R"({"reason":"no","result":"TIMEOUT"})"},
      {"http", R"({"url":"http://localhost:8080/x?y#z"})"},
      {"http",
       R"({"url":"HTTPS://user@[::1]:443","method":"PATCH","headers":{"X-A":"1","B":["2","3"]},
                   "body":"","expect_status":[200,404],"retry_status":[503],"timeout":"1s"})"},
      {"exec", R"({"argv":["true"]})"},
      {"exec", R"({"argv":["echo","","x"],"env":{"A":"","B":"b=c"},"clear_env":true,"cwd":"/",
                   "user":"nobody","stdin":"","output_limit":0,"memory_limit":"512MiB",
                   "success_codes":[0,3],"retry_codes":[75],"grace":"5s"})"},
      {"exec",
       R"({"script":"exit 0","interpreter":"/bin/bash","output_limit":"64MiB","memory_limit":0})"},
      {"file.put", R"({"path":"/tmp/x","content":""})"},
      {"file.put", R"({"path":"/tmp/x","content_base64":"aGk=","mode":"07777","owner":"root",
                       "group":"0","create_parents":true})"},
      {"file.fetch", R"({"path":"/x","url":"file:///srv/a","sha256":")" + kSha + R"("})"},
      {"file.fetch", R"({"path":"/x","url":"http://h/a","mode":"644","sha256":")" + kSha + R"("})"},
      {"service", R"({"unit":"nginx","verb":"restart"})"},
      {"service", R"({"unit":"getty@tty1.service","verb":"status"})"},
      {"some.agents.own", R"({"anything":[1,2]})"},
  };
  for (const GoodCase& c : cases) {
    const auto errors = KindCatalog::check_inputs(c.kind, json(c.inputs), "/inputs");
    EXPECT_TRUE(errors.empty()) << c.kind << " " << c.inputs << "\n" << describe(errors);
  }
}

struct BadCase {
  std::string kind;
  std::string inputs;
  std::string pointer;
  ErrorCode code;
  std::string detail;  // a part of it
};

TEST(Inputs, RefusesWhatIsWrong) {
  constexpr auto kInvalid = ErrorCode::InvalidValue;
  const std::string nul = R"("a\u0000b")";
  const std::vector<BadCase> cases = {
      {"noop", "[]", "", kInvalid, "must be an object, not a list"},
      {"noop", R"({"x":1})", "/x", ErrorCode::UnknownField, "takes none"},
      {"sleep", "{}", "/duration", ErrorCode::MissingField, "duration is required"},
      {"sleep", R"({"duraton":1})", "/duraton", ErrorCode::UnknownField, "did you mean 'duration'"},
      {"sleep", R"({"duration":-1})", "/duration", kInvalid, "is -1, it must be between 0s and"},
      {"sleep", R"({"duration":1e300})", "/duration", kInvalid, "it must be between"},
      {"sleep", R"({"duration":"soon"})", "/duration", kInvalid, "'soon' is not a duration"},
      {"sleep", R"({"duration":"366d"})", "/duration", kInvalid, ""},
      {"sleep", R"({"duration":true})", "/duration", kInvalid, "not a boolean"},
      {"sleep", R"({"duration":null})", "/duration", kInvalid, "not null"},
      {"fail", R"({"result":"OK"})", "/result", kInvalid, "must be one of ERROR, RETRY"},
      {"fail", R"({"result":"EROR"})", "/result", kInvalid, "did you mean 'ERROR'"},
      {"http", "{}", "/url", ErrorCode::MissingField, "required"},
      {"http", R"({"url":"ftp://x"})", "/url", kInvalid, "http:// or https://"},
      {"http", R"({"url":"file:///x"})", "/url", kInvalid, "http:// or https://"},
      {"http", R"({"url":"http://"})", "/url", kInvalid, "must name a host"},
      {"http", R"({"url":"http://:80/"})", "/url", kInvalid, "must name a host"},
      {"http", R"({"url":"http://a b"})", "/url", kInvalid, "white space"},
      {"http", R"({"url":"http://a","method":"G T"})", "/method", kInvalid, "HTTP method"},
      {"http", R"({"url":"http://a","headers":{"a b":"c"}})", "/headers/a b", kInvalid,
       "header name"},
      {"http", R"({"url":"http://a","headers":{"a/~b":"c\r\nX: y"}})", "/headers/a~1~0b", kInvalid,
       ""},
      {"http", R"({"url":"http://a","headers":{"a":"c\r\nX: y"}})", "/headers/a", kInvalid,
       "line breaks"},
      {"http", R"({"url":"http://a","headers":{"a":["b",1]}})", "/headers/a/1", kInvalid,
       "not a number"},
      {"http", R"({"url":"http://a","headers":{"Content-Length":"3"}})", "/headers/Content-Length",
       kInvalid, "must not be given"},
      {"http", R"({"url":"http://a","headers":[]})", "/headers", kInvalid, "not a list"},
      {"http", R"({"url":"http://a","expect_status":[99]})", "/expect_status/0", kInvalid,
       "between 100 and 599"},
      {"http", R"({"url":"http://a","retry_status":[600]})", "/retry_status/0", kInvalid,
       "between 100 and 599"},
      {"http", R"({"url":"http://a","expect_status":[200.5]})", "/expect_status/0", kInvalid,
       "whole number"},
      {"http", R"({"url":"http://a","expect_status":[418],"retry_status":[418]})", "/retry_status",
       kInvalid, "it can only mean one"},
      {"http", R"({"url":"http://a","timeout":"25h"})", "/timeout", kInvalid,
       "between 1ms and 24h"},
      {"http", R"({"url":"http://a","timeout":0})", "/timeout", kInvalid, "between"},
      {"exec", "{}", "/argv", ErrorCode::MissingField, "argv or script is required"},
      {"exec", R"({"argv":["a"],"script":"b"})", "/script", kInvalid, "exactly one"},
      {"exec", R"({"argv":[]})", "/argv", kInvalid, "must not be empty"},
      {"exec", R"({"argv":[""]})", "/argv", kInvalid, "names the program"},
      {"exec", R"({"argv":"ls"})", "/argv", kInvalid, "list of strings, not a string"},
      {"exec", R"({"argv":["ls",7]})", "/argv/1", kInvalid, "argv[1] must be a string"},
      {"exec", R"({"argv":["ls",)" + nul + "]}", "/argv/1", kInvalid, "NUL"},
      {"exec", R"({"argv":["ls",")" + std::string(128 << 10, 'x') + R"("]})", "/argv", kInvalid,
       "in all, at most 131072"},
      {"exec", R"({"script":""})", "/script", kInvalid, "must not be empty"},
      {"exec", R"({"script":)" + nul + "}", "/script", kInvalid, "NUL"},
      {"exec", R"({"argv":["a"],"interpreter":"/bin/sh"})", "/interpreter", kInvalid,
       "only for a script"},
      {"exec", R"({"script":"a","interpreter":"sh"})", "/interpreter", kInvalid, "absolute"},
      {"exec", R"({"argv":["a"],"env":{"A=B":"c"}})", "/env/A=B", kInvalid, "must not contain '='"},
      {"exec", R"({"argv":["a"],"env":{"":"c"}})", "/env/", kInvalid, "empty"},
      {"exec", R"({"argv":["a"],"env":{"A":1}})", "/env/A", kInvalid,
       "must be a string, not a number"},
      {"exec", R"({"argv":["a"],"env":{"A":["b"]}})", "/env/A", kInvalid, "not a list"},
      {"exec", R"({"argv":["a"],"env":{"A":)" + nul + "}}", "/env/A", kInvalid, "NUL"},
      {"exec", R"({"argv":["a"],"clear_env":"yes"})", "/clear_env", kInvalid, "true or false"},
      {"exec", R"({"argv":["a"],"cwd":"tmp"})", "/cwd", kInvalid, "absolute"},
      {"exec", R"({"argv":["a"],"user":"a:b"})", "/user", kInvalid, "a name or a number"},
      {"exec", R"({"argv":["a"],"output_limit":"65MiB"})", "/output_limit", kInvalid,
       "at most 67108864"},
      {"exec", R"({"argv":["a"],"output_limit":-1})", "/output_limit", kInvalid, "number of bytes"},
      {"exec", R"({"argv":["a"],"output_limit":"1 MiB"})", "/output_limit", kInvalid, "512MiB"},
      {"exec", R"({"argv":["a"],"memory_limit":1000})", "/memory_limit", kInvalid,
       "at least 1048576"},
      {"exec", R"({"argv":["a"],"memory_limit":"99999999999TiB"})", "/memory_limit", kInvalid, ""},
      {"exec", R"({"argv":["a"],"success_codes":[256]})", "/success_codes/0", kInvalid,
       "between 0 and 255"},
      {"exec", R"({"argv":["a"],"success_codes":[]})", "/success_codes", kInvalid, "empty"},
      {"exec", R"({"argv":["a"],"success_codes":[18446744073709551615]})", "/success_codes/0",
       kInvalid, ""},
      {"exec", R"({"argv":["a"],"retry_codes":[0]})", "/retry_codes", kInvalid,
       "can only mean one"},
      {"exec", R"({"argv":["a"],"grace":"2h"})", "/grace", kInvalid, "between 0s and 1m"},
      {"exec", R"({"argv":["a"],"comand":"x"})", "/comand", ErrorCode::UnknownField,
       "no input 'comand'"},
      {"exec", R"({"argv":["a"],"a/b~c":"x"})", "/a~1b~0c", ErrorCode::UnknownField, ""},
      {"file.put", R"({"path":"/x"})", "/content", ErrorCode::MissingField, "required"},
      {"file.put", R"({"path":"/x","content":"a","content_base64":"YQ=="})", "/content_base64",
       kInvalid, "exactly one"},
      {"file.put", R"({"path":"/x","content_base64":"YQ="})", "/content_base64", kInvalid,
       "not base64"},
      {"file.put", R"({"path":"x","content":"a"})", "/path", kInvalid, "absolute"},
      {"file.put", R"({"path":"/x/","content":"a"})", "/path", kInvalid, "not a directory"},
      {"file.put", R"({"content":"a"})", "/path", ErrorCode::MissingField, "required"},
      {"file.put", R"({"path":"/x","content":"a","mode":"0999"})", "/mode", kInvalid, "octal"},
      {"file.put", R"({"path":"/x","content":"a","mode":"17777"})", "/mode", kInvalid, "octal"},
      {"file.put", R"({"path":"/x","content":"a","mode":644})", "/mode", kInvalid,
       "must be a string"},
      {"file.put", R"({"path":)" + nul + R"(,"content":"a"})", "/path", kInvalid, "NUL"},
      {"file.fetch", R"({"path":"/x","url":"http://a"})", "/sha256", ErrorCode::MissingField, ""},
      {"file.fetch", R"({"path":"/x","url":"http://a","sha256":"abc"})", "/sha256", kInvalid,
       "64 hexadecimal"},
      {"file.fetch", R"({"path":"/x","url":"file://host/a","sha256":")" + kSha + R"("})", "/url",
       kInvalid, "absolute path"},
      {"file.fetch", R"({"path":"/x","url":"gopher://a","sha256":")" + kSha + R"("})", "/url",
       kInvalid, "file://"},
      {"service", R"({"unit":"nginx","verb":"destroy"})", "/verb", kInvalid, "one of start, stop"},
      {"service", R"({"unit":"--help","verb":"stop"})", "/unit", kInvalid, "unit name"},
      {"service", R"({"unit":"a b","verb":"stop"})", "/unit", kInvalid, "unit name"},
      {"service", R"({"unit":".service","verb":"stop"})", "/unit", kInvalid, "unit name"},
      {"service", R"({"unit":")" + std::string(256, 'u') + R"(","verb":"stop"})", "/unit", kInvalid,
       "at most 255"},
      {"service", "{}", "/unit", ErrorCode::MissingField, ""},
      {"facts", "7", "", kInvalid, "must be an object, not a number"},
  };
  for (const BadCase& c : cases) {
    const auto errors = KindCatalog::check_inputs(c.kind, json(c.inputs), "/inputs");
    const bool found = std::ranges::any_of(errors, [&](const FieldError& error) {
      return error.pointer == "/inputs" + c.pointer && error.code == c.code &&
             error.detail.find(c.detail) != std::string::npos;
    });
    EXPECT_TRUE(found) << c.kind << " " << c.inputs.substr(0, 200) << "\nwants " << c.pointer << " "
                       << name(c.code) << " " << c.detail << "\nhas\n"
                       << describe(errors);
  }
}

TEST(Inputs, ReportsEverythingAtOnce) {
  const auto errors = KindCatalog::check_inputs(
      "exec", json(R"({"argv":["",1],"cwd":"x","sucess_codes":[1],"grace":"x"})"),
      "/actions/3/inputs");
  ASSERT_EQ(errors.size(), 4U) << describe(errors);
  for (const FieldError& error : errors) {
    EXPECT_TRUE(error.pointer.starts_with("/actions/3/inputs/")) << error.pointer;
  }
}

TEST(Inputs, BoundsTheNumberOfErrors) {
  Json inputs = Json::object();
  for (int i = 0; i < 5000; ++i) inputs[fmt::format("unknown{}", i)] = i;
  EXPECT_EQ(KindCatalog::check_inputs("noop", inputs, "").size(), FieldReader::kErrorsMax);
}

TEST(Inputs, KeepsWhatItRead) {
  std::vector<FieldError> errors;
  const Json everything = json(R"({
      "argv":["a","b"],"env":{"K":"v"},"stdin":"in","memory_limit":"1GB","output_limit":"2KiB",
      "success_codes":[1,2],"retry_codes":[75],"grace":1.5,"user":"u","cwd":"/c",
      "clear_env":true})");
  const ExecInputs exec = decode_exec(everything, "", errors);
  EXPECT_EQ(exec.argv, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(exec.env.at("K"), "v");
  EXPECT_EQ(exec.stdin_text, "in");
  EXPECT_EQ(exec.memory_limit, 1'000'000'000U);
  EXPECT_EQ(exec.output_limit, 2048U);
  EXPECT_EQ(exec.success_codes, (std::vector<int>{1, 2}));
  EXPECT_EQ(exec.retry_codes, (std::vector<int>{75}));
  EXPECT_EQ(exec.grace, Duration::millis(1500));
  EXPECT_EQ(exec.user, "u");
  EXPECT_EQ(exec.cwd, "/c");
  EXPECT_TRUE(exec.clear_env);

  const HttpInputs http = decode_http(
      json(R"({"url":"http://h","headers":{"A":["1","2"],"B":"3"},"timeout":"2s"})"), "", errors);
  EXPECT_EQ(http.headers.size(), 3U);
  EXPECT_EQ(http.headers[1], (std::pair<std::string, std::string>{"A", "2"}));
  EXPECT_EQ(http.timeout, Duration::seconds(2));

  const FileFetchInputs fetch = decode_file_fetch(
      json(R"({"url":"http://h","path":"/p","sha256":")" + std::string(64, 'A') + R"("})"), "",
      errors);
  EXPECT_EQ(fetch.sha256, kSha);
  EXPECT_EQ(fetch.mode, "0644");
  EXPECT_TRUE(errors.empty()) << describe(errors);
}

TEST(Catalog, SaysWhereEachKindRuns) {
  EXPECT_EQ(KindCatalog::all().size(), 9U);
  for (const char* kind : {"noop", "sleep", "fail", "http"}) {
    ASSERT_NE(KindCatalog::find(kind), nullptr) << kind;
    EXPECT_TRUE(KindCatalog::find(kind)->on_engine) << kind;
  }
  for (const char* kind :
       {"noop", "sleep", "fail", "exec", "file.put", "file.fetch", "service", "facts"}) {
    ASSERT_NE(KindCatalog::find(kind), nullptr) << kind;
    EXPECT_TRUE(KindCatalog::find(kind)->on_agent) << kind;
  }
  EXPECT_FALSE(KindCatalog::find("http")->on_agent);
  EXPECT_FALSE(KindCatalog::find("http")->resumable);
  EXPECT_FALSE(KindCatalog::find("exec")->on_engine);
  EXPECT_TRUE(KindCatalog::find("sleep")->suspendable);
  EXPECT_FALSE(KindCatalog::find("noop")->suspendable);
  EXPECT_EQ(KindCatalog::find("ecec"), nullptr);
}

TEST(Nearest, FindsTyposAndNothingElse) {
  constexpr std::array<std::string_view, 4> kWords = {"timeout", "target", "name", "id"};
  EXPECT_EQ(nearest_word("timout", kWords), "timeout");
  EXPECT_EQ(nearest_word("tiemout", kWords), "timeout");
  EXPECT_EQ(nearest_word("TARGET", kWords), "target");
  EXPECT_EQ(nearest_word("nmae", kWords), "name");
  EXPECT_EQ(nearest_word("xyz", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 't'), kWords), "");
}

TEST(Base64, DecodesOnlyTheCanonicalForm) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("AAECAw=="), std::string("\0\1\2\3", 4));
  EXPECT_EQ(decode_base64("//79"), "\xFF\xFE\xFD");
  for (const char* wrong : {"A", "AA", "AAA", "AA=A", "====", "AAAA=", "AB==", "AA\n=", "-_=="}) {
    EXPECT_FALSE(decode_base64(wrong)) << wrong;
  }
}

// --- Properties. ---

rc::Gen<std::string> any_text() {
  return rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                        rc::gen::element<std::string>("", "/x", "1s", "http://h/", "0644", "512MiB",
                                                      "start", "ERROR", "YQ=="));
}

rc::Gen<std::string> any_field() {
  return rc::gen::oneOf(
      rc::gen::element<std::string>(
          "argv", "script", "env", "cwd", "user", "stdin", "output_limit", "memory_limit",
          "success_codes", "retry_codes", "grace", "url", "method", "headers", "body",
          "expect_status", "timeout", "path", "content", "content_base64", "mode", "sha256", "unit",
          "verb", "duration", "reason", "result", "interpreter", "create_parents"),
      rc::gen::arbitrary<std::string>());
}

Json any_json(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::arbitrary<std::uint64_t>();
    case 4:
      return *rc::gen::arbitrary<double>();
    case 5:
      return *any_text();
    case 6: {
      Json list = Json::array();
      const int size = *rc::gen::inRange(0, 5);
      for (int i = 0; i < size; ++i) list.push_back(any_json(depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      const int size = *rc::gen::inRange(0, 6);
      for (int i = 0; i < size; ++i) object[*any_field()] = any_json(depth - 1);
      return object;
    }
  }
}

RC_GTEST_PROP(InputsProperty, NeverCrashAndPointBelowTheGivenPointer, ()) {
  Json inputs = any_json(3);
  if (*rc::gen::inRange(0, 4) != 0) {
    inputs = Json::object();
    const int size = *rc::gen::inRange(0, 8);
    for (int i = 0; i < size; ++i) inputs[*any_field()] = any_json(2);
  }
  for (const KindInfo& kind : KindCatalog::all()) {
    const auto errors = KindCatalog::check_inputs(kind.name, inputs, "/p");
    RC_ASSERT(errors.size() <= FieldReader::kErrorsMax);
    for (const FieldError& error : errors) {
      RC_ASSERT(error.pointer == "/p" || error.pointer.starts_with("/p/"));
      RC_ASSERT(!error.detail.empty());
    }
  }
}

RC_GTEST_PROP(InputsProperty, AcceptedArgumentsAreReadUnchanged,
              (const std::vector<std::string>& rest)) {
  Json argv = Json::array({"program"});
  std::vector<std::string> expected = {"program"};
  for (const std::string& argument : rest) {
    argv.push_back(argument);
    expected.push_back(argument);
  }
  std::vector<FieldError> errors;
  const ExecInputs decoded = decode_exec(Json{{"argv", argv}}, "", errors);
  const bool has_nul = std::ranges::any_of(
      rest, [](const std::string& text) { return text.find('\0') != std::string::npos; });
  RC_ASSERT(errors.empty() == !has_nul);
  if (!has_nul) RC_ASSERT(decoded.argv == expected);
}

}  // namespace
}  // namespace muster::core
