#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/context.h"
#include "cli/watch_set.h"

// How a wait is shown while it lasts: lines that are redrawn on a terminal, one line per change
// elsewhere, or NDJSON for programs.

namespace muster::cli {

class Progress {
 public:
  virtual ~Progress() = default;
  // `event` is what told it; null where a snapshot did.
  virtual void changed(const WatchedAction& action, const Json* event, Timestamp now) = 0;
  // Time has passed; also after changes.
  virtual void tick(const WatchSet& /*set*/, Timestamp /*now*/) {}
  // Something about the wait itself: a lost connection, a detach.
  virtual void note(std::string_view text) = 0;
  // Nothing more is shown after this; a redrawn part of the screen is cleared.
  virtual void finish() {}
};

// `context` must outlive the progress.
std::unique_ptr<Progress> make_progress(Context& context);

// The lines of the redrawn view: a header with the count, then the actions that matter most
// (failed, running, waiting, then the rest), at most `lines_max` in all.
std::vector<std::string> live_lines(const WatchSet& set, Timestamp now, const Terminal& terminal,
                                    std::size_t lines_max);

// One line for one change: "● db-backup RUNNING on a1 (0.4s): reason".
std::string change_line(const WatchedAction& action, Timestamp now, const Terminal& terminal);

// "5 actions: 3 succeeded, 1 failed, 1 cancelled".
std::string summary_of(const Tally& tally);

inline constexpr std::string_view kFormatVersion = "1.0";

// One line of NDJSON output.
std::string ndjson_line(std::string_view type, Json fields);

}  // namespace muster::cli
