#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kGap = 2;

std::size_t total_of(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

// Leaves out columns until the rest can be cut to the limit.
void drop_columns(std::vector<std::size_t>& shown, std::vector<std::size_t>& widths,
                  const std::vector<Column>& columns, std::size_t limit) {
  while (true) {
    std::vector<std::size_t> least;
    std::size_t victim = shown.size();
    for (std::size_t p = 0; p < shown.size(); ++p) {
      const Column& column = columns[shown[p]];
      least.push_back(column.shrinks ? std::min(widths[p], column.width_min) : widths[p]);
      if (column.spare == 0) continue;
      if (victim == shown.size() || column.spare > columns[shown[victim]].spare) victim = p;
    }
    if (total_of(least) <= limit || victim == shown.size() || shown.size() == 1) return;
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(victim));
    widths.erase(widths.begin() + static_cast<std::ptrdiff_t>(victim));
  }
}

void shrink(std::vector<std::size_t>& widths, const std::vector<const Column*>& columns,
            std::size_t limit) {
  std::size_t total = total_of(widths);
  while (total > limit) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool can = columns[i]->shrinks && widths[i] > columns[i]->width_min;
      if (can && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
    --total;
  }
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  MUSTER_CHECK(cells.size() == columns_.size(), "row of {} cells in a table of {} columns",
               cells.size(), columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::string Table::render(const TableOptions& options) const {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].wide_only && !options.wide) continue;
    const bool empty = std::all_of(rows_.begin(), rows_.end(),
                                   [&](const auto& row) { return row[i].text.empty(); });
    if (columns_[i].if_any && empty) continue;
    shown.push_back(i);
  }
  if (shown.empty()) return {};
  std::vector<std::size_t> widths;
  for (const std::size_t i : shown) {
    std::size_t width = options.headers ? display_width(columns_[i].title) : 0;
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  if (!options.wide && options.width > 0) {
    drop_columns(shown, widths, columns_, options.width);
    std::vector<const Column*> columns;
    for (const std::size_t i : shown) columns.push_back(&columns_[i]);
    shrink(widths, columns, options.width);
  }

  std::string text;
  const auto append_cell = [&](std::size_t position, const Cell& cell) {
    const std::string cut = fit(cell.text, widths[position], options.utf8);
    text += paint(cut, cell.style, options.color);
    if (position + 1 < shown.size()) text.append(widths[position] - display_width(cut) + kGap, ' ');
  };
  const auto end_line = [&] {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += '\n';
  };
  if (options.headers) {
    for (std::size_t p = 0; p < shown.size(); ++p) {
      append_cell(p, {columns_[shown[p]].title, Style::Bold});
    }
    end_line();
  }
  for (const auto& row : rows_) {
    for (std::size_t p = 0; p < shown.size(); ++p) append_cell(p, row[shown[p]]);
    end_line();
  }
  return text;
}

}  // namespace muster::cli
