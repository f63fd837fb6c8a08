#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Guesses what somebody meant to type, for messages about unknown names.

namespace muster::http {

// The candidate that takes the fewest edits (insert, delete, replace, swap two neighbours) to reach
// from `word`, ignoring case; empty if even the best one differs in more than about a third of its
// letters. The first of several equally near ones wins. Long words are not compared at all, so the
// cost stays bounded whatever a client sends.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace muster::http
