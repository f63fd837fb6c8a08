#include "plan/task_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace muster::plan {
namespace {

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

void append_escaped(std::string& id, std::string_view text) {
  for (const char c : text) {
    if (stays(c)) {
      id += c;
    } else if (c == '/') {
      id += ',';
    } else {
      id += fmt::format("~{:02x}", static_cast<unsigned char>(c));
    }
  }
}

// FNV-1a over 128 bits, as two halves that are seeded apart and mixed at the end.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0);  // so that ("ab", "c") is not ("a", "bc"); no text here has a 0 in it
  }

  std::string text() const { return fmt::format("{:016x}{:016x}", mixed(a_), mixed(b_ ^ a_)); }

 private:
  void add_byte(unsigned char byte) {
    a_ = (a_ ^ byte) * 0x00000100000001B3ULL;
    b_ = (b_ ^ byte) * 0x9E3779B97F4A7C15ULL;
    b_ ^= b_ >> 29U;
  }
  static std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 33U;
    value *= 0xFF51AFD7ED558CCDULL;
    value ^= value >> 33U;
    value *= 0xC4CEB9FE1A85EC53ULL;
    return value ^ (value >> 33U);
  }

  std::uint64_t a_ = 0xCBF29CE484222325ULL;
  std::uint64_t b_ = 0x6C62272E07BB0142ULL;
};

void append_arguments(std::string& id, std::string_view arguments) {
  if (arguments == "{}") return;
  Digest digest;
  digest.add(arguments);
  id += ':';
  id += digest.text();
}

void append_path(std::string& id, const model::Path& path) {
  append_escaped(id, std::string_view(path.text()).substr(1));
}

void append(std::string& id, const Task&, const ConfigWork& work) {
  id += "config:";
  append_path(id, work.node);
  id += ':';
  append_escaped(id, work.call.type);
  id += ':';
  append_escaped(id, work.call.id);
}

void append(std::string& id, const Task& task, const CallbackWork& work) {
  id += "callback:";
  append_escaped(id, task.plugin);
  id += ':';
  append_path(id, task.item);
  id += ':';
  append_escaped(id, work.method);
  append_arguments(id, work.arguments);
}

void append(std::string& id, const Task& task, const RemoteWork& work) {
  id += "remote:";
  append_path(id, task.item);
  id += ':';
  append_escaped(id, work.action);
  id += ':';
  if (work.nodes.size() == 1) {
    append_path(id, work.nodes.front());
  } else {
    Digest digest;
    for (const model::Path& node : work.nodes) digest.add(node.text());
    // No path has a '~' in it.
    id += fmt::format("{}~nodes~{}", work.nodes.size(), digest.text());
  }
  append_arguments(id, work.inputs);
}

std::strong_ordering compare(const Task& a, const ConfigWork& x, const Task& b,
                             const ConfigWork& y) {
  if (const auto order = x.node <=> y.node; order != 0) return order;
  if (const auto order = x.call <=> y.call; order != 0) return order;
  return a.plugin <=> b.plugin;
}

std::strong_ordering compare(const Task& a, const CallbackWork& x, const Task& b,
                             const CallbackWork& y) {
  if (const auto order = a.item <=> b.item; order != 0) return order;
  if (const auto order = a.plugin <=> b.plugin; order != 0) return order;
  if (const auto order = x.method <=> y.method; order != 0) return order;
  return x.arguments <=> y.arguments;
}

std::strong_ordering compare(const Task& a, const RemoteWork& x, const Task& b,
                             const RemoteWork& y) {
  if (const auto order = a.item <=> b.item; order != 0) return order;
  if (const auto order = x.action <=> y.action; order != 0) return order;
  if (const auto order = x.nodes <=> y.nodes; order != 0) return order;
  if (const auto order = x.inputs <=> y.inputs; order != 0) return order;
  return a.plugin <=> b.plugin;
}

}  // namespace

std::string task_id(const Task& task) {
  std::string id;
  std::visit([&](const auto& work) { append(id, task, work); }, task.work);
  return id;
}

std::string path_in_id(const model::Path& path) {
  std::string id;
  append_path(id, path);
  return id;
}

std::strong_ordering compare_identity(const Task& a, const Task& b) {
  if (a.work.index() != b.work.index()) return a.work.index() <=> b.work.index();
  return std::visit(
      [&](const auto& work) {
        return compare(a, work, b, std::get<std::decay_t<decltype(work)>>(b.work));
      },
      a.work);
}

bool same_task(const Task& a, const Task& b) {
  if (a.kind() != b.kind()) return false;
  if (const auto* x = std::get_if<ConfigWork>(&a.work)) {
    const auto& y = std::get<ConfigWork>(b.work);
    return x->node == y.node && x->call == y.call;
  }
  if (const auto* x = std::get_if<RemoteWork>(&a.work)) {
    const auto& y = std::get<RemoteWork>(b.work);
    return a.item == b.item && x->action == y.action && x->nodes == y.nodes &&
           x->inputs == y.inputs;
  }
  return compare_identity(a, b) == 0;
}

std::string describe(const Task& task) {
  return fmt::format("{} of plugin '{}' for {}", task_id(task), task.plugin, task.item.text());
}

}  // namespace muster::plan
