#include "os/random.h"

#include <pthread.h>
#include <sys/random.h>

#include <array>
#include <atomic>

#include "base/check.h"

namespace muster::os {
namespace {

// Counts the forks on the way from the first process to this one: a copied buffer is an old one.
std::atomic<std::uint64_t> forks{0};

bool watch_forks() {
  return ::pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;
}

// One system call for many numbers: ids are made by the thousand.
struct Buffer {
  std::array<std::uint64_t, 64> numbers{};
  std::size_t left = 0;
  std::uint64_t filled_after = 0;
};

}  // namespace

std::uint64_t system_random() {
  static const bool watched = watch_forks();
  MUSTER_CHECK(watched, "no memory to watch for forks");
  thread_local Buffer buffer;
  const std::uint64_t generation = forks.load(std::memory_order_relaxed);
  if (buffer.left == 0 || buffer.filled_after != generation) {
    const ssize_t got = ::getrandom(buffer.numbers.data(), sizeof buffer.numbers, 0);
    // The kernel never breaks a request of this size off once it has been seeded.
    MUSTER_CHECK(got == static_cast<ssize_t>(sizeof buffer.numbers), "getrandom answered {}", got);
    buffer.left = buffer.numbers.size();
    buffer.filled_after = generation;
  }
  return buffer.numbers[--buffer.left];
}

}  // namespace muster::os
