#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sim/faults.h"

// What goes wrong in a scenario, and where: as data, and as text that names one run.

namespace muster::sim {

// Who dies: the controller, the agent that the point belongs to, its whole host, or that agent with
// its journal.
enum class Victim : std::uint8_t { Controller, Agent, Host, Journal };
// Somebody dies, or one fault happens to a write, a message or a request.
using Trouble = std::variant<Victim, Fault>;

std::string name(const Trouble& trouble);  // "controller", "store-refuses"
std::vector<Trouble> troubles();           // all that are tried

struct TroubleAt {
  Trouble trouble;
  std::uint64_t point = 1;  // among the points of this trouble, from 1
};

struct Course {
  std::string scenario;
  std::vector<TroubleAt> troubles;  // none: all goes well
};

std::string to_text(const Course& course);  // "chain:controller:7,message-lost:3"
// InvalidValue: not such a text, or no such scenario or trouble.
Result<Course> parse_course(std::string_view text);

}  // namespace muster::sim
