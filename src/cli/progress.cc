#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fields.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLiveLinesMax = 12;
constexpr Duration kRedrawMin = Duration::millis(30);

int urgency(const WatchedAction& action) {
  if (action.status == "FAILED" || action.status == "LOST" || action.status == "UNKNOWN") return 0;
  if (action.status == "RUNNING" || action.status == "SUSPENDED") return 1;
  if (action.status == "PENDING_APPROVE") return 2;
  if (!action.is_final()) return 3;
  return 4;
}

std::string status_word(const WatchedAction& action) {
  return action.control.empty() || action.is_final()
             ? action.status
             : fmt::format("{} ({})", action.status, action.control);
}

class LineProgress : public Progress {
 public:
  explicit LineProgress(Context& context) : context_(context) {}

  void changed(const WatchedAction& action, const Json* /*event*/, Timestamp now) override {
    context_.console.say(change_line(action, now, context_.terminal) + "\n");
  }
  void note(std::string_view text) override { context_.console.say(printable(text) + "\n"); }

 private:
  Context& context_;
};

class LiveProgress : public Progress {
 public:
  explicit LiveProgress(Context& context) : context_(context) {}

  void changed(const WatchedAction& /*action*/, const Json* /*event*/, Timestamp /*now*/) override {
    dirty_ = true;
  }

  void tick(const WatchSet& set, Timestamp now) override {
    // A burst of events must not become a burst of redraws.
    const Duration since = now - drawn_at_;
    if (since.us >= 0 && since < (dirty_ ? kRedrawMin : Duration::seconds(1))) return;
    drawn_at_ = now;
    dirty_ = false;
    const std::size_t lines_max =
        std::min(kLiveLinesMax, std::max<std::size_t>(3, context_.terminal.stderr_height - 2));
    std::string text = erase();
    const std::vector<std::string> lines = live_lines(set, now, context_.terminal, lines_max);
    for (const std::string& line : lines) text += line + "\n";
    drawn_lines_ = lines.size();
    context_.console.say(text);
  }

  void note(std::string_view text) override {
    context_.console.say(erase() + printable(text) + "\n");
    dirty_ = true;
  }

  void finish() override { context_.console.say(erase()); }

 private:
  std::string erase() {
    if (drawn_lines_ == 0) return {};
    std::string text = fmt::format("\x1b[{}A\x1b[J", drawn_lines_);
    drawn_lines_ = 0;
    return text;
  }

  Context& context_;
  std::size_t drawn_lines_ = 0;
  Timestamp drawn_at_;
  bool dirty_ = true;
};

class JsonProgress : public Progress {
 public:
  explicit JsonProgress(Context& context) : context_(context) {
    context_.console.out(ndjson_line("version", {{"format_version", std::string(kFormatVersion)}}));
  }

  void changed(const WatchedAction& action, const Json* event, Timestamp /*now*/) override {
    if (event != nullptr) {
      context_.console.out(ndjson_line("event", {{"event", *event}}));
    } else {
      context_.console.out(ndjson_line("action", {{"action", action.document}}));
    }
  }
  void note(std::string_view text) override { context_.console.say(printable(text) + "\n"); }

 private:
  Context& context_;
};

}  // namespace

std::unique_ptr<Progress> make_progress(Context& context) {
  if (context.options.format == Format::Json) return std::make_unique<JsonProgress>(context);
  if (context.terminal.stderr_redraw && !context.options.quiet) {
    return std::make_unique<LiveProgress>(context);
  }
  return std::make_unique<LineProgress>(context);
}

std::vector<std::string> live_lines(const WatchSet& set, Timestamp now, const Terminal& terminal,
                                    std::size_t lines_max) {
  std::vector<const WatchedAction*> order;
  for (const WatchedAction& action : set.actions()) order.push_back(&action);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return urgency(*a) < urgency(*b); });
  std::vector<std::string> lines;
  const std::size_t width = terminal.stderr_width == 0 ? 80 : terminal.stderr_width - 1;
  if (order.size() > 1) {
    const Tally tally = set.tally();
    lines.push_back(
        fit(fmt::format("{}/{} ended, {} succeeded, {} not", tally.total() - tally.unfinished,
                        tally.total(), tally.succeeded,
                        tally.total() - tally.unfinished - tally.succeeded),
            width, terminal.utf8));
  }
  std::size_t label_width = 0;
  for (const auto* action : order) {
    label_width = std::max(label_width, display_width(printable(action->label())));
  }
  label_width = std::min<std::size_t>(label_width, 32);
  std::size_t room = lines_max > lines.size() ? lines_max - lines.size() : 1;
  if (order.size() > room) --room;  // for the line that tells how many are not shown
  for (std::size_t i = 0; i < std::min(room, order.size()); ++i) {
    const WatchedAction& action = *order[i];
    const std::string label = fit(printable(action.label()), label_width, terminal.utf8);
    std::string line =
        fmt::format("{} {}  {:<16}  {:<12}  {:>6}", glyph_of(action.status, terminal.utf8),
                    pad(label, label_width), printable(status_word(action)),
                    printable(action.target.empty() ? "controller" : action.target),
                    format_elapsed(action.elapsed(now)));
    if (!action.reason.empty()) line += "  " + printable(action.reason);
    lines.push_back(
        paint(fit(line, width, terminal.utf8), style_of(action.status), terminal.stderr_color));
  }
  if (order.size() > room) {
    lines.push_back(fmt::format("  and {} more", order.size() - room));
  }
  return lines;
}

std::string change_line(const WatchedAction& action, Timestamp now, const Terminal& terminal) {
  std::string line = fmt::format(
      "{} {} {} {} on {} ({})",
      paint(glyph_of(action.status, terminal.utf8), style_of(action.status), terminal.stderr_color),
      short_id(action.id), printable(action.label()),
      paint(printable(status_word(action)), style_of(action.status), terminal.stderr_color),
      action.target.empty() ? "controller" : printable(action.target),
      format_elapsed(action.elapsed(now)));
  if (!action.reason.empty()) line += ": " + printable(action.reason);
  return line;
}

std::string summary_of(const Tally& tally) {
  std::string text = fmt::format("{} action{}:", tally.total(), tally.total() == 1 ? "" : "s");
  bool first = true;
  const auto part = [&](std::size_t count, std::string_view word) {
    if (count == 0) return;
    text += fmt::format("{} {} {}", first ? "" : ",", count, word);
    first = false;
  };
  part(tally.succeeded, "succeeded");
  part(tally.failed, "failed");
  part(tally.lost, "lost");
  part(tally.cancelled, "cancelled");
  part(tally.unknown, "unknown");
  part(tally.unfinished, "not finished");
  return text;
}

std::string ndjson_line(std::string_view type, Json fields) {
  fields["type"] = std::string(type);
  return dump_json(fields) + "\n";
}

}  // namespace muster::cli
