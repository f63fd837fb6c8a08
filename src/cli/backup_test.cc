#include "cli/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/cli_test_util.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// Of "backup bytes".
constexpr const char* kSha256 = "7171b7ccbaa1ac3767c1e75815c6c5bca6634f141b55b4d1a398ddf2a76b75df";

class BackupTest : public ::testing::Test {
 protected:
  BackupTest()
      : directory_(std::filesystem::path(::testing::TempDir()) /
                   ("muster_backup_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    options_.file = (directory_ / "store.db").string();
  }
  ~BackupTest() override { std::filesystem::remove_all(directory_); }

  Outcome<ExitCode> run(const std::string& length, const std::string& sha256) {
    FakeController controller;
    controller.then_stream(
        {"backup ", "bytes"},
        http::ClientResponse{200, {{"content-length", length}, {"x-muster-sha256", sha256}}, ""});
    ApiClient client = controller.client();
    return backup(test_.context, client, options_);
  }

  std::string content() const {
    std::ifstream file(options_.file, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  bool is_empty_directory() const { return std::filesystem::is_empty(directory_); }

  std::filesystem::path directory_;
  BackupOptions options_;
  TestContext test_;
};

TEST_F(BackupTest, WritesWhatItVerified) {
  const Outcome<ExitCode> outcome = run("12", kSha256);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  EXPECT_EQ(content(), "backup bytes");
  EXPECT_FALSE(std::filesystem::exists(options_.file + ".part"));
  EXPECT_EQ(test_.out, options_.file + "\n");
}

TEST_F(BackupTest, LeavesNothingOfADamagedOne) {
  const Outcome<ExitCode> damaged = run("12", std::string(64, '0'));
  ASSERT_FALSE(damaged.has_value());
  EXPECT_THAT(damaged.error().detail, HasSubstr("damaged"));
  const Outcome<ExitCode> cut = run("13", kSha256);
  ASSERT_FALSE(cut.has_value());
  EXPECT_THAT(cut.error().detail, HasSubstr("12 bytes came of 13"));
  const Outcome<ExitCode> unsigned_one = run("12", "");
  EXPECT_FALSE(unsigned_one.has_value());
  EXPECT_TRUE(is_empty_directory());
}

TEST_F(BackupTest, ReplacesAFileOnlyWhenForced) {
  std::ofstream(options_.file) << "precious";
  const Outcome<ExitCode> refused = run("12", kSha256);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().exit, ExitCode::Usage);
  EXPECT_EQ(content(), "precious");
  options_.force = true;
  ASSERT_TRUE(run("12", kSha256).has_value());
  EXPECT_EQ(content(), "backup bytes");
}

}  // namespace
}  // namespace muster::cli
