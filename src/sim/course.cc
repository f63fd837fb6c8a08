#include "sim/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number.h"
#include "sim/scenario.h"

namespace muster::sim {
namespace {

// Those that happen to one write, message or request.
constexpr std::array kFaultsTried = {
    Fault::StoreRefuses,     Fault::StoreTimeoutApplied, Fault::StoreTimeoutLost,
    Fault::StoreAppliesLate, Fault::JournalRefuses,      Fault::JournalTimeoutApplied,
    Fault::MessageLost,      Fault::MessageDuplicated,   Fault::MessageReordered,
    Fault::MessageDelayed,   Fault::RequestLost,
};

std::string_view name_of(Victim victim) {
  switch (victim) {
    case Victim::Controller:
      return "controller";
    case Victim::Agent:
      return "agent";
    case Victim::Host:
      return "host";
    case Victim::Journal:
      return "journal";
  }
  return "?";
}

// What is before the first `mark`, and takes it and the mark away from the text.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

Result<TroubleAt> parse_trouble(std::string_view text) {
  const std::string_view wanted = take_until(text, ':');
  std::vector<std::string> known;
  for (const Trouble& trouble : troubles()) {
    known.push_back(name(trouble));
    if (known.back() != wanted) continue;
    const auto point = whole_number<std::uint64_t>(text);
    if (!point || *point == 0) {
      return fail(ErrorCode::InvalidValue, "the point of {} is '{}', which is no number from 1",
                  wanted, text);
    }
    return TroubleAt{trouble, *point};
  }
  return fail(ErrorCode::InvalidValue, "'{}' is no trouble that is tried; {} are", wanted,
              fmt::join(known, ", "));
}

}  // namespace

std::string name(const Trouble& trouble) {
  const auto* victim = std::get_if<Victim>(&trouble);
  return std::string(victim != nullptr ? name_of(*victim) : name(std::get<Fault>(trouble)));
}

std::vector<Trouble> troubles() {
  std::vector<Trouble> all = {Victim::Controller, Victim::Agent, Victim::Host, Victim::Journal};
  all.insert(all.end(), kFaultsTried.begin(), kFaultsTried.end());
  return all;
}

std::string to_text(const Course& course) {
  std::string text = course.scenario;
  for (std::size_t i = 0; i < course.troubles.size(); ++i) {
    text += fmt::format("{}{}:{}", i == 0 ? ':' : ',', name(course.troubles[i].trouble),
                        course.troubles[i].point);
  }
  return text;
}

Result<Course> parse_course(std::string_view text) {
  Course course;
  course.scenario = take_until(text, ':');
  std::vector<std::string_view> known;
  for (const Scenario& scenario : scenarios()) known.push_back(scenario.name);
  if (std::find(known.begin(), known.end(), course.scenario) == known.end()) {
    return fail(ErrorCode::InvalidValue, "no scenario is called '{}'; there are {}",
                course.scenario, fmt::join(known, ", "));
  }
  while (!text.empty()) {
    MUSTER_TRY_ASSIGN(const TroubleAt at, parse_trouble(take_until(text, ',')));
    course.troubles.push_back(at);
  }
  return course;
}

}  // namespace muster::sim
