#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/action_views.h"
#include "cli/cli_test_util.h"
#include "cli/nodes.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"
#include "golden/golden.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void expect_golden(const std::string& name, const std::string& actual) {
  muster::testing::expect_golden(std::string(MUSTER_TEST_DATA) + "/" + name, actual);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

Json sample_actions() {
  return Json::array({{{"id", "3f2a41bc-0000-4000-8000-000000000001"},
                       {"name", "nightly-backup-of-the-first-database"},
                       {"action", "exec"},
                       {"target", "db1"},
                       {"status", "RUNNING"},
                       {"status_reason", "executing on db1"},
                       {"control", "CANCEL"},
                       {"attempt", 2},
                       {"requested_by", "alice"},
                       {"created_at", "2025-11-15T18:57:00Z"},
                       {"updated_at", "2025-11-15T18:59:30Z"}},
                      {{"id", "91bc41bc-0000-4000-8000-000000000002"},
                       {"name", "größe-日本"},
                       {"action", "file.put"},
                       {"target", "db2"},
                       {"status", "FAILED"},
                       {"status_reason", "exit code 7: no space left\non device \x1b[31mred"},
                       {"control", ""},
                       {"attempt", 1},
                       {"requested_by", "bob"},
                       {"created_at", "2025-11-13T18:57:00Z"},
                       {"updated_at", "2025-11-13T19:57:00Z"}},
                      {{"id", "aaaa41bc-0000-4000-8000-000000000003"},
                       {"name", "tick"},
                       {"action", "noop"},
                       {"target", nullptr},
                       {"status", "SUCCEEDED"},
                       {"created_at", "2025-11-15T18:59:58Z"}}});
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining accent
  EXPECT_EQ(display_width("\xFF\xFE"), 2U);   // invalid bytes
}

TEST(Fit, CutsWithAnEllipsisAtAColumn) {
  EXPECT_EQ(fit("backup", 6, true), "backup");
  EXPECT_EQ(fit("backups", 6, true), "backu…");
  EXPECT_EQ(fit("backups", 6, false), "bac...");
  EXPECT_EQ(fit("日本語", 4, true), "日…");  // the second character would need both columns left
  EXPECT_EQ(fit("backups", 1, true), "b");
}

TEST(Printable, KeepsForeignTextFromActingOnTheTerminal) {
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\x1b[2Jgone"), "?[2Jgone");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "?2J");  // the one-character form of ESC [
  EXPECT_EQ(printable("\xFFx"), "?x");
  EXPECT_EQ(printable("größe"), "größe");
}

RC_GTEST_PROP(Fit, NeverExceedsTheWidth, (const std::string& text)) {
  const auto width = *rc::gen::inRange<std::size_t>(0, 40);
  const std::string safe = printable(text);
  RC_ASSERT(display_width(fit(safe, width, true)) <= width);
  RC_ASSERT(display_width(fit(safe, width, false)) <= width);
}

TEST(TailLines, GivesTheLastLinesCut) {
  EXPECT_THAT(tail_lines("one\ntwo\r\nthree\n\n", 2, 3), ElementsAre("two", "thr"));
  EXPECT_THAT(tail_lines("only", 3, 10), ElementsAre("only"));
  EXPECT_THAT(tail_lines("", 3, 10), IsEmpty());
}

TEST(FormatElapsed, IsFineBelowTenSeconds) {
  EXPECT_EQ(format_elapsed(Duration::millis(420)), "0.4s");
  EXPECT_EQ(format_elapsed(Duration::seconds(9)), "9.0s");
  EXPECT_EQ(format_elapsed(Duration::seconds(61)), "1m1s");
  EXPECT_EQ(format_elapsed(Duration::micros(-5)), "0.0s");
}

TEST(Table, LeavesColumnsOutWhereCuttingIsNotEnough) {
  const Table table = action_table(sample_actions(), TestContext().now, false, true);
  for (std::size_t width = 40; width <= 100; width += 5) {
    for (const std::string& line : lines_of(table.render({.width = width, .utf8 = true}))) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  const std::string narrow = lines_of(table.render({.width = 50, .utf8 = true})).front();
  EXPECT_THAT(narrow, HasSubstr("NAME"));
  EXPECT_THAT(narrow, HasSubstr("STATUS"));
  EXPECT_THAT(narrow, Not(HasSubstr("REASON")));
}

TEST(Table, LeavesOutAColumnThatIsEmpty) {
  Table table({{.title = "A"}, {.title = "B", .if_any = true}});
  table.add_row({{"x"}, {""}});
  EXPECT_EQ(table.render({}), "A\nx\n");
  table.add_row({{"y"}, {"z"}});
  EXPECT_EQ(table.render({}), "A  B\nx\ny  z\n");
}

TEST(Table, PadsAllColumnsButTheLast) {
  Table table({{.title = "A"}, {.title = "LONGER"}});
  table.add_row({{"value"}, {"x"}});
  EXPECT_EQ(table.render({}), "A      LONGER\nvalue  x\n");
}

TEST(Table, ShrinksOnlyWhatMayShrinkWidestFirst) {
  Table table(
      {{.title = "ID"}, {.title = "NAME", .shrinks = true}, {.title = "R", .shrinks = true}});
  table.add_row({{"12345678"}, {"a-rather-long-name"}, {"reason"}});
  EXPECT_EQ(table.render({.width = 26}), "ID        NAME      R\n12345678  a-rathe…  reason\n");
}

TEST(Table, WideCutsNothingAndShowsAllColumns) {
  Table table({{.title = "N", .shrinks = true}, {.title = "EXTRA", .wide_only = true}});
  table.add_row({{"a-rather-long-name"}, {"more"}});
  EXPECT_EQ(table.render({.width = 8, .headers = false}), "a-rathe…\n");
  EXPECT_EQ(table.render({.width = 8, .headers = false, .wide = true}),
            "a-rather-long-name  more\n");
}

TEST(Table, ColoursOnlyTheText) {
  Table table({{.title = "S"}, {.title = "X"}});
  table.add_row({{"ok", Style::Good}, {"y"}});
  EXPECT_EQ(table.render({.headers = false, .color = true}), "\x1b[32mok\x1b[0m  y\n");
}

RC_GTEST_PROP(Table, FitsTheTerminalWhenItsColumnsCanShrink,
              (const std::vector<std::pair<std::string, std::string>>& rows)) {
  Table table({{.title = "FIRST", .shrinks = true}, {.title = "SECOND", .shrinks = true}});
  for (const auto& [first, second] : rows) table.add_row({{first}, {second}});
  const auto width = *rc::gen::inRange<std::size_t>(10, 60);
  for (const std::string& line : lines_of(table.render({.width = width}))) {
    RC_ASSERT(display_width(line) <= width);
  }
}

TEST(ActionTable, IsAsItWasReviewed) {
  const TestContext test;
  const Table narrow = action_table(sample_actions(), test.now, false, true);
  expect_golden("action_table_80.golden", narrow.render({.width = 80}));
  expect_golden("action_table_piped.golden", narrow.render({}));
  expect_golden(
      "action_table_ascii.golden",
      action_table(sample_actions(), test.now, false, false).render({.width = 80, .utf8 = false}));
  expect_golden("action_table_wide.golden",
                action_table(sample_actions(), test.now, true, true).render({.wide = true}));
}

TEST(ActionDetails, IsAsItWasReviewed) {
  TestContext test;
  const Json action = {
      {"id", "3f2a41bc-0000-4000-8000-000000000001"},
      {"name", "upgrade"},
      {"action", "exec"},
      {"target", "db1"},
      {"side", "agent"},
      {"status", "PENDING_APPROVE"},
      {"status_reason", "1 of 2 approvals"},
      {"status_since", "2025-11-15T18:00:00Z"},
      {"control", ""},
      {"cause", "RPC Request"},
      {"parent", nullptr},
      {"attempt", 1},
      {"retry", {{"attempts", 3}, {"backoff", 1}, {"max_backoff", 60}}},
      {"approval",
       {{"count", 2},
        {"decisions",
         Json::array({{{"who", "bob"}, {"approved", true}, {"reason", "change 4711"}}})}}},
      {"timeout", 90.5},
      {"interval", 0},
      {"misfire", "skip"},
      {"created_at", "2025-11-15T18:00:00Z"},
      {"deadline", "2025-11-15T20:30:00Z"},
      {"depends_on", Json::array({"aaaa", "bbbb"})},
      {"inputs", {{"argv", Json::array({"/bin/echo", "hi"})}, {"env", Json::object()}}},
      {"outputs", Json::object()},
      {"revision", 4}};
  expect_golden("action_details.golden", action_details(action, test.now, test.context.terminal));
}

TEST(NodeTable, IsAsItWasReviewed) {
  TestContext test;
  test.context.terminal.stdout_width = 80;
  FakeController controller;
  controller.then_json(
      200,
      {{"agents",
        Json::array(
            {{{"name", "a1"},
              {"state", "online"},
              {"state_since", "2025-11-15T18:00:00Z"},
              {"last_seen", "2025-11-15T18:59:58Z"},
              {"labels", {{"role", "db"}, {"site", "north"}}},
              {"kinds", Json::array({"exec", "facts"})},
              {"facts",
               {{"os", "debian"}, {"os_version", "12"}, {"arch", "x86_64"}, {"version", "0.1.0"}}}},
             {{"name", "a2"}, {"state", "offline"}, {"state_since", "2025-11-15T18:59:00Z"}}})}});
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = list_nodes(test.context, client);
  ASSERT_TRUE(outcome.has_value());
  expect_golden("node_table_80.golden", test.out);
}

WatchSet sample_set() {
  WatchSet set;
  for (const Json& action : sample_actions()) set.apply_snapshot(action);
  return set;
}

TEST(LiveLines, ShowWhatMattersFirstAndCountTheRest) {
  const TestContext test;
  Terminal terminal;
  terminal.utf8 = true;
  terminal.stderr_width = 60;
  const std::vector<std::string> lines = live_lines(sample_set(), test.now, terminal, 3);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "2/3 ended, 1 succeeded, 1 not");
  EXPECT_THAT(lines[1], HasSubstr("✖ größe-日本"));
  EXPECT_EQ(lines[2], "  and 2 more");
  for (const std::string& line : lines) EXPECT_LT(display_width(line), 60U);
}

TEST(ChangeLine, NamesEverythingInWords) {
  const TestContext test;
  Terminal terminal;
  const WatchSet set = sample_set();
  EXPECT_EQ(change_line(set.actions()[0], test.now, terminal),
            "* 3f2a41bc nightly-backup-of-the-first-database RUNNING (CANCEL) on db1 (3m): "
            "executing on db1");
}

TEST(Summary, AccountsForEveryAction) {
  EXPECT_EQ(summary_of({.succeeded = 3, .failed = 1, .cancelled = 1}),
            "5 actions: 3 succeeded, 1 failed, 1 cancelled");
  EXPECT_EQ(summary_of({.lost = 1}), "1 action: 1 lost");
}

TEST(Glyphs, HaveAnAsciiForm) {
  EXPECT_EQ(glyph_of("SUCCEEDED", true), "✔");
  EXPECT_EQ(glyph_of("SUSPENDED", true), "‖");
  EXPECT_EQ(glyph_of("WAITING", true), "◌");
  for (const char* status : {"SUCCEEDED", "FAILED", "LOST", "CANCELLED", "SUSPENDED", "WAITING"}) {
    EXPECT_EQ(glyph_of(status, false).size(), 1U);
  }
}

}  // namespace
}  // namespace muster::cli
