#include "plugin/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::plugin {
namespace {

using ::testing::HasSubstr;

TEST(LineReader, PutsLinesTogetherHoweverTheyCome) {
  const std::string text = "one\n\ntwo three\nrest";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineReader reader(100);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
      reader.push(std::string_view(text).substr(at, step));
      while (auto line = reader.next()) lines.push_back(*line);
    }
    EXPECT_THAT(lines, ::testing::ElementsAre("one", "", "two three")) << step;
    EXPECT_EQ(reader.rest(), "rest");
  }
}

TEST(LineReader, RefusesALineAboveItsLimitWholeOrNot) {
  LineReader open(4);
  open.push("12345");
  EXPECT_FALSE(open.next());
  EXPECT_TRUE(open.too_long());

  LineReader whole(4);
  whole.push("1234\n12345\n");
  EXPECT_EQ(whole.next(), "1234");
  EXPECT_FALSE(whole.too_long());
  EXPECT_FALSE(whole.next());
  EXPECT_TRUE(whole.too_long());
  EXPECT_EQ(whole.rest().substr(0, 5), "12345");
}

TEST(Message, TellsRequestsNotificationsAndAnswersApart) {
  auto request = parse_message(R"({"jsonrpc":"2.0","id":"a","method":"model"})", {});
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<PluginRequest>(*request).method, "model");
  EXPECT_TRUE(std::get<PluginRequest>(*request).params.empty());
  auto note = parse_message(R"({"jsonrpc":"2.0","method":"log","params":{"level":"info"}})", {});
  ASSERT_TRUE(note);
  EXPECT_EQ(std::get<PluginNotification>(*note).params["level"], "info");
  auto result = parse_message(R"({"jsonrpc":"2.0","id":3,"result":null})", {});
  ASSERT_TRUE(result);
  EXPECT_EQ(std::get<PluginResponse>(*result).id, 3);
  auto error = parse_message(R"({"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}})", {});
  ASSERT_TRUE(error);
  EXPECT_EQ(std::get<RpcError>(std::get<PluginResponse>(*error).outcome), (RpcError{1, "no"}));
}

TEST(Message, RefusesWhatIsNone) {
  for (const char* text :
       {"", "hello", "[]", "3", R"({"id":1,"result":1})", R"({"jsonrpc":"1.0","id":1,"result":1})",
        R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":"x","result":1})", R"({"jsonrpc":"2.0","id":null,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}})",
        R"({"jsonrpc":"2.0","id":1,"error":"no"})", R"({"jsonrpc":"2.0","method":4})",
        R"({"jsonrpc":"2.0","method":"m","params":[1]})"}) {
    EXPECT_FALSE(parse_message(text, {})) << text;
  }
}

TEST(Message, ShowsWhatCameInAShortPrintableForm) {
  EXPECT_EQ(excerpt("a\x01\xFF"), "'a\\x01\xEF\xBF\xBD'");
  const std::string shown = excerpt(std::string(5000, 'x'));
  EXPECT_LT(shown.size(), 220U);
  EXPECT_THAT(shown, HasSubstr("'..."));
}

}  // namespace
}  // namespace muster::plugin
