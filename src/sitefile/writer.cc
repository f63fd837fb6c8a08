#include "sitefile/writer.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "sitefile/scalar.h"

namespace muster::sitefile {
namespace {

using model::Declaration;

constexpr std::size_t kLineMax = 100;
constexpr std::size_t kStep = 2;

bool is_empty(const Declaration& item) {
  return !item.type && !item.inherit && item.properties.empty() && item.children.empty();
}

class YamlWriter {
 public:
  std::string write(const Declaration& declaration) && {
    if (is_empty(declaration)) return "{}\n";
    item(declaration, 0);
    return std::move(text_);
  }

 private:
  void item(const Declaration& item, std::size_t indent) {
    if (item.type) field("type", *item.type, indent);
    if (item.inherit) field("inherit", item.inherit->text(), indent);
    if (!item.properties.empty()) {
      const std::string flow = flow_properties(item);
      if (!flow.empty() && item.properties.size() <= 3 && fits(indent, "properties", flow)) {
        line(indent, "properties", flow);
      } else {
        line(indent, "properties", "");
        for (const auto& [name, value] : item.properties) {
          field(yaml_scalar(name, false), value, indent + kStep);
        }
      }
    }
    for (const auto& [id, child] : item.children) this->child(id, child, indent);
  }

  void child(const std::string& id, const Declaration& child, std::size_t indent) {
    const std::string key = yaml_scalar(id, false);
    if (is_empty(child)) {
      line(indent, key, "{}");
      return;
    }
    if (const std::string flow = flow_item(child); !flow.empty() && fits(indent, key, flow)) {
      line(indent, key, flow);
      return;
    }
    line(indent, key, "");
    item(child, indent + kStep);
  }

  void field(std::string_view key, const std::string& value, std::size_t indent) {
    if (!is_block(value)) {
      line(indent, key, yaml_scalar(value, false));
      return;
    }
    line(indent, key, "|");
    for (std::size_t from = 0; from < value.size();) {
      const std::size_t end = value.find('\n', from);
      if (end > from) {
        text_.append(indent + kStep, ' ');
        text_.append(value, from, end - from);
      }
      text_ += '\n';
      from = end + 1;
    }
  }

  void line(std::size_t indent, std::string_view key, std::string_view value) {
    text_.append(indent, ' ');
    text_ += key;
    text_ += ':';
    if (!value.empty()) {
      text_ += ' ';
      text_ += value;
    }
    text_ += '\n';
  }

  static bool fits(std::size_t indent, std::string_view key, std::string_view value) {
    return indent + key.size() + 2 + value.size() <= kLineMax;
  }

  // "{type: package, properties: {name: vim}}". Empty: too much for one line, or it has children.
  static std::string flow_item(const Declaration& item) {
    if (!item.children.empty()) return {};
    std::string text = "{";
    const auto add = [&text](std::string_view key, std::string_view value) {
      text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", key, value);
    };
    if (item.type) add("type", yaml_scalar(*item.type, true));
    if (item.inherit) add("inherit", yaml_scalar(item.inherit->text(), true));
    if (!item.properties.empty()) {
      const std::string properties = flow_properties(item);
      if (properties.empty()) return {};
      add("properties", properties);
    }
    return text + "}";
  }

  static std::string flow_properties(const Declaration& item) {
    std::string text = "{";
    for (const auto& [name, value] : item.properties) {
      if (is_block(value) || text.size() + value.size() > kLineMax) return {};
      text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", yaml_scalar(name, true),
                          yaml_scalar(value, true));
    }
    return text + "}";
  }

  std::string text_;
};

class JsonWriter {
 public:
  std::string write(const Declaration& declaration) && {
    item(declaration, 0);
    return std::move(text_) + "\n";
  }

 private:
  void item(const Declaration& item, std::size_t indent) {
    open();
    if (item.type) field("type", *item.type, indent);
    if (item.inherit) field("inherit", item.inherit->text(), indent);
    if (!item.properties.empty()) {
      key("properties", indent);
      open();
      for (const auto& [name, value] : item.properties) field(name, value, indent + kStep);
      close(indent + kStep);
    }
    for (const auto& [id, child] : item.children) {
      key(id, indent);
      this->item(child, indent + kStep);
    }
    close(indent);
  }

  void field(std::string_view name, std::string_view value, std::size_t indent) {
    key(name, indent);
    text_ += json_quoted(value);
    empty_ = false;
  }

  void key(std::string_view name, std::size_t indent) {
    text_ += empty_ ? "\n" : ",\n";
    text_.append(indent + kStep, ' ');
    text_ += json_quoted(name) + ": ";
  }

  void open() {
    text_ += '{';
    empty_ = true;
  }

  void close(std::size_t indent) {
    if (!empty_) {
      text_ += '\n';
      text_.append(indent, ' ');
    }
    text_ += '}';
    empty_ = false;
  }

  std::string text_;
  bool empty_ = true;  // the mapping that is open
};

}  // namespace

std::string write_yaml(const Declaration& declaration) { return YamlWriter().write(declaration); }

std::string write_json(const Declaration& declaration) { return JsonWriter().write(declaration); }

}  // namespace muster::sitefile
