#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/exit_code.h"

namespace muster::cli {
namespace {

volatile sig_atomic_t g_interrupts = 0;

void on_interrupt(int /*signal*/) {
  g_interrupts = g_interrupts + 1;
  if (g_interrupts > 1) _exit(static_cast<int>(ExitCode::Interrupted));
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART, so that a sleep or a poll returns at once.
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return g_interrupts > 0; }

void ignore_broken_pipes() {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace muster::cli
