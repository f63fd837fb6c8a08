#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/path.h"
#include "model/schema.h"
#include "model/tree.h"

// Whether a model that was made with other types, or other versions of them, is one that the types
// of today could have made. The rules of editing count on it.

namespace muster::model {

// What keeps a model from being used, each reason once, with how many items it is true of.
class Misfits {
 public:
  void add(const Path& path, const std::string& problem);
  // Of the whole, not of an item. Told before what was added.
  void add_first(const std::string& problem);

  bool any() const { return !general_.empty() || !problems_.empty(); }
  // A line each, at most `shown` of them, then how many there are besides.
  std::string text(std::size_t shown) const;

 private:
  struct Problem {
    Path first;
    std::string text;
    std::size_t items = 0;
  };

  std::vector<std::string> general_;
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t> by_text_;
  std::size_t untold_ = 0;  // items with reasons beyond those that are kept
};

// Every item has a slot that is meant for it, everything that its type says is always there, and
// values that its type allows. What plugins would say of values is not asked. Of what is wrong by
// its place nothing below it is looked at. `left_out` are items that could not be made a part of
// the tree: what is missing because of that is no mistake of its own.
void check_fit(const Tree& tree, const Schema& schema, const std::set<Path>& left_out,
               Misfits& misfits);

}  // namespace muster::model
