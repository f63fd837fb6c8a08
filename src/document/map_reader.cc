#include "document/map_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/nearest.h"
#include "base/number.h"
#include "model/quoted.h"

namespace muster::document {

void Problems::add(model::Place place, std::string message) {
  if (list_.size() < max_) list_.push_back({std::move(place), std::move(message)});
}

void Problems::add(std::vector<Problem> problems) {
  for (Problem& problem : problems) add(std::move(problem.place), std::move(problem.message));
}

std::vector<Problem> Problems::take() && {
  const auto key = [](const Problem& problem) {
    return std::tie(problem.place.file, problem.place.line, problem.place.column, problem.message);
  };
  std::sort(list_.begin(), list_.end(),
            [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  return std::move(list_);
}

MapReader::MapReader(const Document& document, const Value& value, std::string what,
                     Problems& problems)
    : document_(document),
      what_(std::move(what)),
      problems_(problems),
      map_(value.map()),
      mark_(value.mark) {
  if (map_ == nullptr && value.kind() != Kind::Null) {
    problems_.add(place(),
                  fmt::format("{} is a mapping; here is {}", what_, kind_words(value.kind())));
  }
}

const Entry* MapReader::entry(std::string_view field) const {
  if (map_ == nullptr) return nullptr;
  const auto found = std::find_if(map_->begin(), map_->end(),
                                  [&](const Entry& entry) { return entry.key == field; });
  return found == map_->end() ? nullptr : &*found;
}

const Entry* MapReader::find(std::string_view field) {
  known_.push_back(field);
  return entry(field);
}

bool MapReader::has(std::string_view field) { return find(field) != nullptr; }

const Value* MapReader::value(std::string_view field) {
  const Entry* found = find(field);
  return found == nullptr ? nullptr : &found->value;
}

void MapReader::wrong_kind(const Entry& entry, std::string_view wanted) {
  problems_.add(document_.place(entry.value.mark),
                fmt::format("'{}' of {} is {}; here is {}", entry.key, what_, wanted,
                            kind_words(entry.value.kind())));
}

std::optional<std::string> MapReader::text(std::string_view field) {
  const Entry* found = find(field);
  if (found == nullptr) return std::nullopt;
  if (const Scalar* scalar = found->value.scalar()) return scalar->text;
  wrong_kind(*found, "a text");
  return std::nullopt;
}

std::string MapReader::required_text(std::string_view field) {
  if (const std::optional<std::string> found = text(field)) {
    if (found->empty()) invalid(field, fmt::format("'{}' of {} may not be empty", field, what_));
    return *found;
  }
  if (entry(field) == nullptr) {
    problems_.add(place(), fmt::format("{} has no '{}'", what_, field));
  }
  return {};
}

std::optional<bool> MapReader::flag(std::string_view field) {
  const std::optional<std::string> found = text(field);
  if (!found) return std::nullopt;
  if (*found == "true") return true;
  if (*found == "false") return false;
  invalid(field,
          fmt::format("'{}' of {} is true or false, not {}", field, what_, model::quoted(*found)));
  return std::nullopt;
}

std::optional<std::int64_t> MapReader::integer(std::string_view field, std::int64_t min,
                                               std::int64_t max) {
  const std::optional<std::string> found = text(field);
  if (!found) return std::nullopt;
  const auto number = whole_number<std::int64_t>(*found);
  if (number && *number >= min && *number <= max) return number;
  invalid(field, fmt::format("'{}' of {} is a whole number from {} to {}, not {}", field, what_,
                             min, max, model::quoted(*found)));
  return std::nullopt;
}

std::optional<std::size_t> MapReader::choice(std::string_view field,
                                             std::span<const std::string_view> words) {
  const std::optional<std::string> found = text(field);
  if (!found) return std::nullopt;
  const auto word = std::find(words.begin(), words.end(), *found);
  if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  const std::vector<std::string> named(words.begin(), words.end());
  invalid(field,
          fmt::format("'{}' of {} is one of {}, not {}{}", field, what_, model::quoted_list(named),
                      model::quoted(*found), did_you_mean(*found, words)));
  return std::nullopt;
}

std::vector<std::string> MapReader::texts(std::string_view field) {
  std::vector<std::string> found;
  const Value* const value = this->value(field);
  if (value == nullptr || value->kind() == Kind::Null) return found;
  if (const Scalar* scalar = value->scalar()) return {scalar->text};
  const List* const list = value->list();
  if (list == nullptr) {
    wrong_kind(*entry(field), "a list of texts");
    return found;
  }
  for (const Value& item : *list) {
    std::optional<std::string> text =
        read_text(document_, item, fmt::format("an entry of '{}'", field), problems_);
    if (text) found.push_back(std::move(*text));
  }
  return found;
}

const List* MapReader::list(std::string_view field) {
  const Entry* found = find(field);
  if (found == nullptr || found->value.kind() == Kind::Null) return nullptr;
  if (found->value.list() == nullptr) wrong_kind(*found, "a list");
  return found->value.list();
}

const Map* MapReader::map(std::string_view field) {
  const Entry* found = find(field);
  if (found == nullptr || found->value.kind() == Kind::Null) return nullptr;
  if (found->value.map() == nullptr) wrong_kind(*found, "a mapping");
  return found->value.map();
}

model::Place MapReader::place(std::string_view field) const {
  const Entry* found = entry(field);
  return found == nullptr ? place() : document_.place(found->mark);
}

void MapReader::invalid(std::string_view field, std::string message) {
  const Entry* found = entry(field);
  problems_.add(found == nullptr ? place() : document_.place(found->value.mark),
                std::move(message));
}

void MapReader::finish() {
  if (map_ == nullptr) return;
  for (const Entry& entry : *map_) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    problems_.add(document_.place(entry.mark),
                  fmt::format("{} has no field {}{}", what_, model::quoted(entry.key),
                              did_you_mean(entry.key, known_)));
  }
}

std::optional<std::string> read_text(const Document& document, const Value& value,
                                     std::string_view what, Problems& problems) {
  if (const Scalar* scalar = value.scalar()) return scalar->text;
  problems.add(document.place(value.mark),
               fmt::format("{} is a text; here is {}", what, kind_words(value.kind())));
  return std::nullopt;
}

}  // namespace muster::document
