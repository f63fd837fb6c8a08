#include "cli/plan_views.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "cli/fields.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

std::string count_of(std::int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string value_text(const Json& value) {
  if (value.is_null()) return "(none)";
  const std::string text = printable(json_cell(value));
  return text.empty() ? "''" : fit(text, 60, true);
}

struct Mark {
  std::string_view text;
  Style style;
};

Mark mark_of(const Json& task) {
  const std::string state = json_text(task, "item_state");
  if (state == "ForRemoval" || state == "Removed") return {"-", Style::Bad};
  return state == "Initial" ? Mark{"+", Style::Good} : Mark{"~", Style::Active};
}

std::string where_of(const Json& task) {
  std::string nodes;
  for (const Json& node : json_at(task, "nodes")) {
    nodes += (nodes.empty() ? "" : ", ") + last_part(json_cell(node));
  }
  return nodes;
}

void add_task(const Json& task, const Terminal& terminal, std::string& text) {
  const Mark mark = mark_of(task);
  const std::string where = where_of(task);
  text += fmt::format("  {} {}{}", paint(mark.text, mark.style, terminal.stdout_color),
                      printable(json_text(task, "description")),
                      where.empty() ? "" : fmt::format("  [{}]", printable(where)));
  const std::string role = json_text(task, "role");
  if (role != "ordinary") text += fmt::format("  ({})", role);
  text += '\n';
  text += fmt::format("      {}\n",
                      paint(printable(json_text(task, "item")), Style::Dim, terminal.stdout_color));
  const Json& properties = json_at(task, "properties");
  // Of what is new everything is, which the model tells; here it is what changes that counts.
  if (!properties.is_object() || mark.text != "~") return;
  for (const auto& [name, value] : properties.items()) {
    text += fmt::format("      {}: {} -> {}\n", printable(name),
                        value_text(json_at(value, "before")), value_text(json_at(value, "after")));
  }
}

std::string phase_title(const Json& phase) {
  std::string title =
      fmt::format("Phase {}  {}", json_int(phase, "phase"), printable(json_text(phase, "group")));
  const std::string cluster = json_text(phase, "cluster");
  if (!cluster.empty()) title += fmt::format("  cluster {}", printable(last_part(cluster)));
  const std::string locked = json_text(phase, "locked_node");
  if (!locked.empty()) title += fmt::format("  node {} locked", printable(last_part(locked)));
  std::string after;
  for (const Json& each : json_at(phase, "after")) {
    after += (after.empty() ? "" : ", ") + json_cell(each);
  }
  if (!after.empty()) title += fmt::format("  after {}", after);
  return title;
}

std::map<std::string, const Json*> by_id(const Json& tasks) {
  std::map<std::string, const Json*> result;
  for (const Json& task : tasks) result.emplace(json_text(task, "id"), &task);
  return result;
}

std::string escape(std::string_view text, bool xml) {
  std::string result;
  for (const char c : text) {
    if (xml && c == '&') {
      result += "&amp;";
    } else if (xml && c == '<') {
      result += "&lt;";
    } else if (!xml && (c == '"' || c == '\\')) {
      result += {'\\', c};
    } else {
      result += c;
    }
  }
  return result;
}

std::vector<std::string> box_lines(const Json& phase) {
  std::vector<std::string> lines = {
      fmt::format("{}: {}", json_int(phase, "phase"), json_text(phase, "group"))};
  const std::string cluster = json_text(phase, "cluster");
  const std::string tasks = count_of(json_int(phase, "tasks"), "task");
  lines.push_back(cluster.empty() ? tasks : fmt::format("{}, {}", last_part(cluster), tasks));
  return lines;
}

}  // namespace

std::string plan_summary(const Json& plan, const Terminal& terminal) {
  const Json& summary = json_at(plan, "summary");
  const std::int64_t clusters = json_int(summary, "clusters");
  std::string text = fmt::format(
      "{}: {} to add, {} to change, {} to remove\n",
      paint(fmt::format("Plan {}", json_int(plan, "id")), Style::Bold, terminal.stdout_color),
      json_int(summary, "add"), json_int(summary, "change"), json_int(summary, "remove"));
  text += fmt::format("{} in {} on {}", count_of(json_int(summary, "tasks"), "task"),
                      count_of(json_int(summary, "phases"), "phase"),
                      count_of(json_int(summary, "nodes"), "node"));
  if (clusters > 0) {
    text += fmt::format(", {} of which {} at the same time", count_of(clusters, "cluster"),
                        json_int(summary, "clusters_in_parallel"));
  }
  text += fmt::format("; model revision {}\n", json_int(plan, "model_revision"));
  if (const std::int64_t left = json_int(summary, "left_out"); left > 0) {
    text += fmt::format("{} left out, because nothing about it has changed since it succeeded\n",
                        count_of(left, "task"));
  }
  const std::string state = json_text(plan, "state");
  if (state != "initial") {
    text += fmt::format("{}: {}\n", paint(state, Style::Bad, terminal.stdout_color),
                        printable(json_text(plan, "state_reason")));
  }
  return text;
}

std::string plan_text(const Json& phases, const Json& tasks, const Terminal& terminal) {
  std::string text;
  std::size_t next = 0;
  for (const Json& phase : phases) {
    text += "\n" + paint(phase_title(phase), Style::Bold, terminal.stdout_color) + "\n";
    while (next < tasks.size() && json_int(tasks[next], "phase") == json_int(phase, "phase")) {
      add_task(tasks[next++], terminal, text);
    }
  }
  return text;
}

std::string plan_diff(const Json& before, const Json& after, const Terminal& terminal) {
  const auto old_tasks = by_id(before);
  const auto new_tasks = by_id(after);
  std::string text;
  const auto line = [&](std::string_view mark, Style style, const std::string& id,
                        const std::string& note) {
    text += fmt::format("{} {}{}\n", paint(mark, style, terminal.stdout_color), printable(id),
                        note.empty() ? "" : "  " + note);
  };
  for (const auto& [id, task] : old_tasks) {
    if (!new_tasks.contains(id))
      line("-", Style::Bad, id, printable(json_text(*task, "description")));
  }
  for (const auto& [id, task] : new_tasks) {
    const auto found = old_tasks.find(id);
    if (found == old_tasks.end()) {
      line("+", Style::Good, id, printable(json_text(*task, "description")));
      continue;
    }
    std::string note;
    if (json_at(*task, "phase") != json_at(*found->second, "phase")) {
      note = fmt::format("phase {} -> {}", json_cell(json_at(*found->second, "phase")),
                         json_cell(json_at(*task, "phase")));
    }
    for (const char* field : {"attributes", "arguments", "inputs", "requires"}) {
      if (json_at(*task, field) == json_at(*found->second, field)) continue;
      note += fmt::format("{}other {}", note.empty() ? "" : ", ", field);
    }
    if (!note.empty()) line("~", Style::Active, id, note);
  }
  return text;
}

std::string plan_dot(const Json& phases) {
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const Json& phase : phases) {
    const std::vector<std::string> lines = box_lines(phase);
    const std::int64_t number = json_int(phase, "phase");
    text += fmt::format("  p{} [label=\"{}\\n{}\"];\n", number, escape(lines[0], false),
                        escape(lines[1], false));
    for (const Json& after : json_at(phase, "after")) {
      text += fmt::format("  p{} -> p{};\n", json_cell(after), number);
    }
  }
  return text + "}\n";
}

std::string plan_svg(const Json& phases) {
  constexpr int kWidth = 260;
  constexpr int kHeight = 46;
  constexpr int kGapX = 60;
  constexpr int kGapY = 18;
  constexpr int kMargin = 16;
  // A column is how far a phase is from the beginning; in it phases stand in their order.
  std::map<std::int64_t, std::pair<int, int>> place;
  std::map<int, int> used;
  int columns = 0;
  int rows = 0;
  for (const Json& phase : phases) {
    int column = 0;
    for (const Json& after : json_at(phase, "after")) {
      if (!after.is_number_integer()) continue;
      column = std::max(column, place[after.get<std::int64_t>()].first + 1);
    }
    const int row = used[column]++;
    place[json_int(phase, "phase")] = {column, row};
    columns = std::max(columns, column + 1);
    rows = std::max(rows, row + 1);
  }
  const auto left = [](int column) { return kMargin + column * (kWidth + kGapX); };
  const auto top = [](int row) { return kMargin + row * (kHeight + kGapY); };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n",
      left(columns), top(rows));
  for (const Json& phase : phases) {
    const auto [column, row] = place[json_int(phase, "phase")];
    for (const Json& after : json_at(phase, "after")) {
      if (!after.is_number_integer()) continue;
      const auto [from_column, from_row] = place[after.get<std::int64_t>()];
      text += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#888\"/>\n",
                          left(from_column) + kWidth, top(from_row) + kHeight / 2, left(column),
                          top(row) + kHeight / 2);
    }
  }
  for (const Json& phase : phases) {
    const auto [column, row] = place[json_int(phase, "phase")];
    const std::vector<std::string> lines = box_lines(phase);
    text += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"#f4f6f8\" "
        "stroke=\"#345\"/>\n",
        left(column), top(row), kWidth, kHeight);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left(column) + 10,
                          top(row) + 19 + static_cast<int>(i) * 16, escape(lines[i], true));
    }
  }
  return text + "</svg>\n";
}

}  // namespace muster::cli
