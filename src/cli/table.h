#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace muster::cli {

struct Column {
  std::string title;
  bool shrinks = false;    // may be cut to fit the terminal
  bool wide_only = false;  // left out unless wide
  std::size_t width_min = 4;
  bool if_any = false;  // left out where all its cells are empty
  // Where cutting is not enough, columns are left out, the highest first; 0: never.
  int spare = 0;
};

struct Cell {
  std::string text;
  Style style = Style::Plain;
};

struct TableOptions {
  std::size_t width = 0;  // 0: no limit
  bool headers = true;
  bool color = false;
  bool utf8 = true;
  bool wide = false;  // every column, nothing cut
};

// A table of text. Cells are made printable, so foreign text cannot act on the terminal. Columns
// are two spaces apart; when they do not fit, the columns that may shrink do, widest first.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void add_row(std::vector<Cell> cells);
  std::size_t rows() const { return rows_.size(); }
  std::string render(const TableOptions& options) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace muster::cli
