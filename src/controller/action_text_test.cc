#include "controller/action_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace muster::controller {
namespace {

core::Action full_action() {
  core::ActionSpec spec;
  spec.id = Uuid::v4(1, 2);
  spec.name = "na\"me\n\xFF";
  spec.kind = "exec";
  spec.target = "höst";
  spec.parent = Uuid::v4(3, 4);
  spec.inputs = R"({"argv":["/bin/true"]})";
  spec.context = "not json";
  spec.depends_on = {Uuid::v4(5, 6), Uuid::v4(7, 8)};
  spec.timeout = Duration::millis(1500);
  spec.interval = Duration::seconds(60);
  spec.not_before = Timestamp{1'700'000'000'250'000};
  spec.approval = core::ApprovalPolicy{};
  spec.plan = "p";
  spec.created_at = Timestamp{1'700'000'000'000'000};
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>(std::move(spec));
  action.decisions = {{"me", true, "fine", Timestamp{1'700'000'000'000'000}}};
  action.owner = "a1";
  return action;
}

// parse_json() refuses a key that comes twice, and what it read is written with sorted keys: so
// equal texts say that the document is JSON, complete and in order.
TEST(ActionText, IsWhatTheJsonLibraryWouldWrite) {
  for (const core::Action& action : {full_action(), [] {
                                       core::Action plain;
                                       plain.spec = std::make_shared<const core::ActionSpec>();
                                       return plain;
                                     }()}) {
    const std::string text = action_document(action);
    const Result<Json> parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(dump_json(*parsed), text);
    EXPECT_EQ(parsed->at("action").size(), 42U);
  }
}

TEST(ActionText, ShowsEveryPropertyAsItsType) {
  const Json action = parse_json(action_document(full_action())).value().at("action");
  EXPECT_EQ(action.at("name"), "na\"me\n\xEF\xBF\xBD");  // what is not UTF-8 is replaced
  EXPECT_EQ(action.at("target"), "höst");
  EXPECT_EQ(action.at("inputs"), Json::parse(R"({"argv":["/bin/true"]})"));
  EXPECT_EQ(action.at("context"), Json::parse(R"({"unreadable":"not json"})"));
  EXPECT_EQ(action.at("timeout"), 1.5);
  EXPECT_EQ(action.at("interval"), 60);
  EXPECT_EQ(action.at("depends_on").size(), 2U);
  EXPECT_EQ(action.at("scheduled_start"), "2023-11-14T22:13:20.250000Z");
  EXPECT_EQ(action.at("scheduled_stop"), nullptr);
  EXPECT_EQ(action.at("task"), nullptr);
  EXPECT_EQ(action.at("approval").at("decisions").at(0).at("who"), "me");
  EXPECT_EQ(action.at("retry").at("attempts"), 1);
}

}  // namespace
}  // namespace muster::controller
