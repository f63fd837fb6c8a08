#pragma once

namespace muster::cli {

// Ctrl-C on two levels: the first is noted (interrupted() answers true, and the command detaches
// from what it watches), the second ends the process with exit code 130. Process-wide; call once,
// from a command that waits.
void catch_interrupts();
bool interrupted();

// Writing to a closed pipe is an error of the write instead of the end of the process.
void ignore_broken_pipes();

}  // namespace muster::cli
