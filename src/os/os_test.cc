#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "os/clock.h"
#include "os/fd.h"
#include "os/notify.h"
#include "os/random.h"

namespace muster::os {
namespace {

TEST(Clock, TheCalendarIsOfThisCenturyAndTheMonotonicOneNeverGoesBack) {
  EXPECT_GT(system_now(), Timestamp{1'600'000'000'000'000});
  EXPECT_LT(system_now(), Timestamp{4'102'444'800'000'000});
  Duration last = monotonic_now();
  for (int i = 0; i < 1000; ++i) {
    const Duration now = monotonic_now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Random, DoesNotRepeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(system_random());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Random, AForkedProcessDrawsOthersThanItsParent) {
  (void)system_random();  // the buffer is there to be copied
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  const std::uint64_t mine = system_random();
  if (child == 0) {
    ::_exit(::write(writer.get(), &mine, sizeof mine) == sizeof mine ? 0 : 1);
  }
  std::uint64_t of_child = 0;
  ASSERT_EQ(::read(reader.get(), &of_child, sizeof of_child), ssize_t{sizeof of_child});
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_NE(of_child, mine);
}

class Notify : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("NOTIFY_SOCKET"); }

  // Listens as a supervisor at `path`, where "@" stands for the abstract namespace.
  static UniqueFd listen_at(const std::string& path) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    return socket;
  }
  static std::string heard(const UniqueFd& socket) {
    std::array<char, 256> buffer{};
    const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }
};

TEST_F(Notify, ReachesAFileAndTheAbstractNamespace) {
  const std::string unique = std::to_string(::getpid());
  const std::string file = std::filesystem::temp_directory_path() / ("muster-notify-" + unique);
  for (const std::string& path : {file, "@muster-notify-" + unique}) {
    const UniqueFd supervisor = listen_at(path);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    notify_supervisor("READY=1");
    EXPECT_EQ(heard(supervisor), "READY=1") << path;
  }
  std::filesystem::remove(file);
}

TEST_F(Notify, IsSilentWhereNobodyAskedOrNobodyListens) {
  notify_supervisor("READY=1");
  for (const std::string& path :
       {std::string(), std::string("/nowhere/at/all"), "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    notify_supervisor("READY=1");
  }
}

TEST(Fd, ClosesOnceAndMovesOwnership) {
  UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(first.valid());
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), number);
  second.reset();
  EXPECT_FALSE(second.valid());
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Fd, ErrorsHaveWords) {
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
  EXPECT_EQ(errno_text(99'999), "error 99999");
}

}  // namespace
}  // namespace muster::os
