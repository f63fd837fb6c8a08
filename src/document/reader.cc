#include "document/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "document/json_escapes.h"
#include "document/yaml_parser.h"
#include "model/quoted.h"

namespace muster::document {
namespace {

// Maps up to this many entries are searched for a double key one by one.
constexpr std::size_t kSmallMap = 12;

bool is_null_word(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
  return std::find(kNulls.begin(), kNulls.end(), text) != kNulls.end();
}

// Builds the tree from events. What a broken rule leaves in doubt is still built, so that further
// problems can be told; only a syntax error or a limit ends the reading.
class TreeBuilder {
 public:
  TreeBuilder(ReadDocument& read, const Limits& limits) : read_(read), limits_(limits) {}

  void run(std::string_view text) {
    YamlParser parser(text);
    while (!ended_) {
      const std::optional<YamlEvent> event = parser.next();
      if (!event) {
        stop(parser.error().mark, parser.error().message);
        return;
      }
      take(*event);
    }
  }

 private:
  // A list or map that is still open.
  struct Open {
    Value value;
    bool has_key = false;  // of a map: a key stands there, and its value comes next
    bool skip = false;     // stands in the place of a key, where nothing but a scalar may
  };

  void take(const YamlEvent& event) {
    if (event.kind == YamlEvent::Kind::End) {
      ended_ = true;
      return;
    }
    if (event.kind == YamlEvent::Kind::DocumentStart) {
      if (++documents_ > 1) stop(event.mark, "a second document; a file has one");
      return;
    }
    if (event.kind == YamlEvent::Kind::ListEnd || event.kind == YamlEvent::Kind::MapEnd) {
      close();
      return;
    }
    if (++values_ > limits_.values_max) {
      stop(event.mark, fmt::format("more than {} values in one file", limits_.values_max));
      return;
    }
    check_refused(event);
    if (event.kind == YamlEvent::Kind::Alias) {
      add({{}, event.mark});
    } else if (event.kind == YamlEvent::Kind::Text) {
      take_scalar(event);
    } else {
      open(event);
    }
  }

  void check_refused(const YamlEvent& event) {
    if (event.kind == YamlEvent::Kind::Alias) {
      tell(event.mark, "an alias; write the value out");
    } else if (event.has_anchor) {
      tell(event.mark, "an anchor; aliases are not read, so it has no use");
    }
    if (!event.tag.empty()) {
      tell(event.mark, fmt::format("the tag {}; values have no tags here, a text is put in quotes",
                                   model::quoted(event.tag)));
    }
  }

  void take_scalar(const YamlEvent& event) {
    if (event.text.size() > limits_.scalar_bytes_max) {
      stop(event.mark, fmt::format("a text of {} bytes; at most {} are allowed", event.text.size(),
                                   limits_.scalar_bytes_max));
      return;
    }
    if (event.text.find('\0') != std::string_view::npos) {
      tell(event.mark, "a text with a NUL byte, which no system call can take");
    }
    if (awaits_key()) {
      Map& map = std::get<Map>(stack_.back().value.data);
      map.push_back({std::string(event.text), event.mark, {}});
      stack_.back().has_key = true;
      return;
    }
    Value value{{}, event.mark};
    if (event.quoted || !is_null_word(event.text)) {
      value.data = Scalar{std::string(event.text), event.quoted};
    }
    add(std::move(value));
  }

  void open(const YamlEvent& event) {
    if (stack_.size() >= limits_.depth_max) {
      stop(event.mark, fmt::format("nested deeper than {} levels", limits_.depth_max));
      return;
    }
    Open opened;
    opened.skip = awaits_key();
    if (opened.skip) tell(event.mark, "a list or mapping as a key; a key is a text");
    opened.value.mark = event.mark;
    if (event.kind == YamlEvent::Kind::ListStart) {
      opened.value.data = List();
    } else {
      opened.value.data = Map();
    }
    stack_.push_back(std::move(opened));
  }

  void close() {
    Open closed = std::move(stack_.back());
    stack_.pop_back();
    if (const Map* map = closed.value.map()) check_double_keys(*map);
    if (!closed.skip) {
      add(std::move(closed.value));
      return;
    }
    Map& map = std::get<Map>(stack_.back().value.data);
    map.push_back({"", closed.value.mark, {}});
    stack_.back().has_key = true;
  }

  bool awaits_key() const {
    return !stack_.empty() && stack_.back().value.kind() == Kind::Mapping && !stack_.back().has_key;
  }

  void add(Value value) {
    if (stack_.empty()) {
      read_.document.root = std::move(value);
      return;
    }
    Open& top = stack_.back();
    if (auto* list = std::get_if<List>(&top.value.data)) {
      list->push_back(std::move(value));
      return;
    }
    Map& map = std::get<Map>(top.value.data);
    if (!top.has_key) {  // an alias in the place of a key, told already
      map.push_back({"", value.mark, {}});
      top.has_key = true;
      return;
    }
    map.back().value = std::move(value);
    top.has_key = false;
  }

  void check_double_keys(const Map& map) {
    const auto twice = [this](const Entry& first, const Entry& second) {
      tell(second.mark, fmt::format("the key {} stands twice, first in line {}, column {}",
                                    model::quoted(second.key), first.mark.line, first.mark.column));
    };
    if (map.size() <= kSmallMap) {
      for (std::size_t i = 1; i < map.size(); ++i) {
        const auto end = map.begin() + static_cast<std::ptrdiff_t>(i);
        const auto first = std::find_if(
            map.begin(), end, [&](const Entry& entry) { return entry.key == map[i].key; });
        if (first != end) twice(*first, map[i]);
      }
      return;
    }
    std::vector<const Entry*> sorted;
    sorted.reserve(map.size());
    for (const Entry& entry : map) sorted.push_back(&entry);
    // Entries stand one after the other in memory, as in the text.
    std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
      const int order = a->key.compare(b->key);
      return order != 0 ? order < 0 : a < b;
    });
    const Entry* first = sorted.front();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i]->key == first->key) {
        twice(*first, *sorted[i]);
      } else {
        first = sorted[i];
      }
    }
  }

  void tell(const Mark& mark, std::string message) {
    if (read_.problems.size() < limits_.problems_max) {
      read_.problems.push_back({read_.document.place(mark), std::move(message)});
    }
  }

  void stop(const Mark& mark, std::string message) {
    ended_ = true;
    if (read_.problems.size() >= limits_.problems_max) read_.problems.pop_back();
    read_.problems.push_back({read_.document.place(mark), std::move(message)});
  }

  ReadDocument& read_;
  const Limits& limits_;
  std::vector<Open> stack_;
  std::size_t values_ = 0;
  std::size_t documents_ = 0;
  bool ended_ = false;
};

}  // namespace

ReadDocument read_document(std::string_view text, std::string file, const Limits& limits) {
  ReadDocument read;
  read.document.file = std::move(file);
  if (text.size() > limits.bytes_max) {
    read.problems.push_back({{read.document.file, 0, 0},
                             fmt::format("the file has {} bytes; at most {} are allowed",
                                         text.size(), limits.bytes_max)});
    return read;
  }
  read.document.root.mark = {1, 1};
  const std::string joined = join_surrogates(text);
  TreeBuilder(read, limits).run(joined.empty() ? text : joined);
  std::sort(read.problems.begin(), read.problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.line, a.place.column, a.message) <
           std::tie(b.place.line, b.place.column, b.message);
  });
  return read;
}

}  // namespace muster::document
