#include "sitefile/xml_writer.h"

#include <fmt/format.h>

#include <utility>

#include "sitefile/scalar.h"
#include "sitefile/xml_names.h"

namespace muster::sitefile {
namespace {

using model::Declaration;
using model::ItemType;
using model::Node;

// The type that brought the slot into being, which is what LITP calls the collection after.
const ItemType& declaring_type(const ItemType& type, std::string_view slot) {
  const ItemType* declaring = &type;
  while (declaring->base && declaring->base->find_element(slot)) declaring = declaring->base;
  return *declaring;
}

std::string element_name(const Node& node) {
  std::string name;
  if (node.item().is_collection()) {
    const ItemType& above = declaring_type(*node.parent()->item().type, node.id());
    name = fmt::format("{}-{}{}", above.id, node.id(), kCollectionSuffix);
  } else {
    name = node.item().type->id;
  }
  return node.source() ? name + std::string(kInheritSuffix) : name;
}

class XmlWriter {
 public:
  WrittenXml write(const Node& node, const Declaration& declaration) && {
    written_.text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    item(node, declaration, 0);
    return std::move(written_);
  }

 private:
  void item(const Node& node, const Declaration& declaration, std::size_t indent) {
    std::string& text = written_.text;
    const std::string name = element_name(node);
    text.append(indent, ' ');
    text += fmt::format("<litp:{}", name);
    if (indent == 0) {
      text += fmt::format(
          " xmlns:xsi=\"{}\" xmlns:litp=\"{}\" xsi:schemaLocation=\"{} litp-xml-schema/litp.xsd\"",
          kInstanceNamespace, kLitpNamespace, kLitpNamespace);
    }
    if (node.source()) {
      text += fmt::format(" {}=\"{}\"", kSourceAttribute, node.item().source->text());
    }
    text += fmt::format(" {}=\"{}\"", kIdAttribute, node.parent() ? node.id() : kRootElement);
    if (declaration.properties.empty() && declaration.children.empty()) {
      text += "/>\n";
      return;
    }
    text += ">\n";
    for (const auto& [property, value] : declaration.properties) {
      this->property(node, property, value, indent + 2);
    }
    for (const auto& [id, child] : declaration.children) {
      item(*node.find_child(id), child, indent + 2);
    }
    text.append(indent, ' ');
    text += fmt::format("</litp:{}>\n", name);
  }

  void property(const Node& node, const std::string& name, const std::string& value,
                std::size_t indent) {
    if (!is_xml_text(value)) {
      written_.errors.push_back({model::Refusal::Validation, node.path(), name,
                                 fmt::format("'{}' of {} has a character that XML has no words for",
                                             name, node.path().text())});
      return;
    }
    written_.text.append(indent, ' ');
    written_.text += fmt::format("<{}>{}</{}>\n", name, xml_escaped(value), name);
  }

  WrittenXml written_;
};

}  // namespace

WrittenXml write_xml(const Node& node, model::Detail detail) {
  return XmlWriter().write(node, model::declare(node, detail));
}

}  // namespace muster::sitefile
