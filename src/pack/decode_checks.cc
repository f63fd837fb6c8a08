#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/number.h"
#include "model/quoted.h"
#include "pack/decode.h"
#include "pack/word.h"

namespace muster::pack {
namespace {

using document::Document;
using document::MapReader;
using document::Problems;

constexpr std::array<std::string_view, 11> kValueChecks = {
    "integer",          "integer_range", "length",        "not_empty",  "not_digits", "network",
    "not_zero_address", "ip_address",    "ipv6_and_mask", "restricted", "plugin"};
constexpr std::array<std::string_view, 6> kItemChecks = {"max_value", "one_property", "directory",
                                                         "plugin",    "unique",       "lists"};
constexpr std::array<std::string_view, 3> kVersions = {"4", "6", "both"};

// Reads the arguments of checks, with the reports that name them.
class Arguments {
 public:
  Arguments(const Document& file, const Word& word, Problems& problems)
      : file_(file), word_(word), problems_(problems) {}

  // Nothing may stand with the word.
  bool none() {
    if (word_.argument == nullptr) return true;
    problems_.add(word_.place, fmt::format("check '{}' is a word alone", word_.word));
    return false;
  }

  std::optional<std::string> text() {
    const std::string what = fmt::format("what stands with check '{}'", word_.word);
    if (word_.argument != nullptr) return read_text(file_, *word_.argument, what, problems_);
    problems_.add(word_.place, fmt::format("check '{}' needs a text with it", word_.word));
    return std::nullopt;
  }

  std::optional<std::vector<std::string>> texts() {
    if (word_.argument == nullptr || word_.argument->list() == nullptr) {
      problems_.add(word_.place, fmt::format("check '{}' needs a list with it", word_.word));
      return std::nullopt;
    }
    std::vector<std::string> found;
    for (const document::Value& value : *word_.argument->list()) {
      const std::string what = fmt::format("an entry of check '{}'", word_.word);
      found.push_back(read_text(file_, value, what, problems_).value_or(""));
    }
    return found;
  }

  std::optional<model::IpVersion> version() {
    if (word_.argument == nullptr) return model::IpVersion::Both;
    const std::optional<std::string> given = text();
    if (!given) return std::nullopt;
    if (*given == kVersions[0]) return model::IpVersion::V4;
    if (*given == kVersions[1]) return model::IpVersion::V6;
    if (*given == kVersions[2]) return model::IpVersion::Both;
    problems_.add(word_.place, fmt::format("with check '{}' stands 4, 6 or both, not {}",
                                           word_.word, model::quoted(*given)));
    return std::nullopt;
  }

  std::optional<std::size_t> size() {
    const std::optional<std::string> given = text();
    if (!given) return std::nullopt;
    if (const auto number = whole_number<std::uint32_t>(*given)) return *number;
    problems_.add(word_.place, fmt::format("with check '{}' stands a whole number, not {}",
                                           word_.word, model::quoted(*given)));
    return std::nullopt;
  }

  std::optional<model::IntegerRangeCheck> range() {
    MapReader reader = argument();
    const std::optional<std::int64_t> min = reader.integer("min");
    const std::optional<std::int64_t> max = reader.integer("max");
    reader.finish();
    if (!min && !max) {
      problems_.add(word_.place,
                    fmt::format("check '{}' needs min, max, or both with it", word_.word));
      return std::nullopt;
    }
    return model::IntegerRangeCheck{min.value_or(std::numeric_limits<std::int64_t>::min()),
                                    max.value_or(std::numeric_limits<std::int64_t>::max())};
  }

  std::optional<model::MaxValueCheck> max_value() {
    MapReader reader = argument();
    model::MaxValueCheck check{reader.required_text("property"), reader.required_text("limit")};
    reader.finish();
    return check;
  }

  model::UniqueCheck unique() {
    MapReader reader = argument();
    model::UniqueCheck check{reader.required_text("property"), reader.texts("among"),
                             reader.flag("ignore_case").value_or(false)};
    reader.finish();
    return check;
  }

  model::ListsCheck lists() {
    MapReader reader = argument();
    model::ListsCheck check{reader.required_text("property"), reader.required_text("collection"),
                            reader.required_text("of")};
    reader.finish();
    return check;
  }

 private:
  // What stands with the word, as a mapping.
  MapReader argument() {
    static const document::Value kNothing;
    return MapReader(file_, word_.argument == nullptr ? kNothing : *word_.argument,
                     fmt::format("check '{}'", word_.word), problems_);
  }

  const Document& file_;
  const Word& word_;
  Problems& problems_;
};

template <typename Check, typename Argument, typename Make>
std::optional<Check> make(const std::optional<Argument>& argument, const Make& from) {
  if (!argument) return std::nullopt;
  return Check(from(*argument));
}

std::optional<model::ValueCheck> decode_value_check(const Word& word, Arguments arguments) {
  using model::ValueCheck;
  const std::string& name = word.word;
  if (name == "integer_range") {
    return make<ValueCheck>(arguments.range(), [](const auto& range) { return range; });
  }
  if (name == "length") {
    return make<ValueCheck>(arguments.size(),
                            [](std::size_t max) { return model::LengthCheck{max}; });
  }
  if (name == "network") {
    return make<ValueCheck>(arguments.version(),
                            [](model::IpVersion version) { return model::NetworkCheck{version}; });
  }
  if (name == "ip_address") {
    return make<ValueCheck>(arguments.version(), [](model::IpVersion version) {
      return model::IpAddressCheck{version};
    });
  }
  if (name == "restricted") {
    return make<ValueCheck>(arguments.texts(), [](const std::vector<std::string>& values) {
      return model::RestrictedCheck{values};
    });
  }
  if (name == "plugin") {
    return make<ValueCheck>(arguments.text(),
                            [](const std::string& method) { return model::PluginCheck{method}; });
  }
  if (!arguments.none()) return std::nullopt;
  if (name == "integer") return model::IntegerCheck{};
  if (name == "not_empty") return model::NotEmptyCheck{};
  if (name == "not_digits") return model::NotDigitsCheck{};
  if (name == "not_zero_address") return model::NotZeroAddressCheck{};
  return model::Ipv6AndMaskCheck{};
}

std::optional<model::ItemCheck> decode_item_check(const Word& word, Arguments arguments) {
  using model::ItemCheck;
  if (word.word == "max_value") {
    return make<ItemCheck>(arguments.max_value(), [](const auto& check) { return check; });
  }
  if (word.word == "one_property") {
    return make<ItemCheck>(arguments.texts(), [](const std::vector<std::string>& properties) {
      return model::OnePropertyCheck{properties};
    });
  }
  if (word.word == "directory") {
    return make<ItemCheck>(arguments.text(), [](const std::string& property) {
      return model::DirectoryCheck{property};
    });
  }
  return make<ItemCheck>(arguments.text(),
                         [](const std::string& method) { return model::PluginCheck{method}; });
}

}  // namespace

void decode_value_checks(const Document& file, const document::List* list,
                         model::PropertyTypeDefinition& type, Problems& problems) {
  if (list == nullptr) return;
  for (const document::Value& value : *list) {
    const std::optional<Word> word =
        read_word(file, value, "check of a value", kValueChecks, problems);
    if (!word) continue;
    auto check = decode_value_check(*word, Arguments(file, *word, problems));
    if (!check) continue;
    type.checks.push_back(std::move(*check));
    type.check_places.push_back(word->place);
  }
}

void decode_item_checks(const Document& file, const document::List* list,
                        model::ItemTypeDefinition& type, Problems& problems) {
  if (list == nullptr) return;
  for (const document::Value& value : *list) {
    const std::optional<Word> word =
        read_word(file, value, "check of an item", kItemChecks, problems);
    if (!word) continue;
    Arguments arguments(file, *word, problems);
    if (word->word == "unique") {
      type.model_checks.push_back({arguments.unique(), word->place});
    } else if (word->word == "lists") {
      type.model_checks.push_back({arguments.lists(), word->place});
    } else if (auto check = decode_item_check(*word, arguments)) {
      type.checks.push_back(std::move(*check));
      type.check_places.push_back(word->place);
    }
  }
}

}  // namespace muster::pack
