#include "pack/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "pack/decode.h"
#include "pack/pack_folder.h"

namespace muster::pack {
namespace {

// The types that Muster itself has rules for.
constexpr std::array<std::string_view, 5> kCoreTypes = {"root", "ms", "deployment", "cluster-base",
                                                        "node"};

class Loader {
 public:
  explicit Loader(const LoadRequest& request) : request_(request) {}

  LoadedPacks load() && {
    read_all();
    check_core();
    for (Read& read : reads_) find_plugin(read);
    LoadedPacks loaded;
    find_judgeable();
    if (!judgeable_.empty()) build(loaded);
    loaded.packs = in_order_of_needs();
    loaded.problems = std::move(problems_).take();
    if (!loaded.problems.empty()) {
      loaded.schema = nullptr;
      loaded.ruleset.reset();
      loaded.templates = {};
    }
    return loaded;
  }

 private:
  struct Read {
    PackFolder folder;
    DecodedPack decoded;
    std::string program;
  };

  static Read read(const std::string& path, document::Problems& problems) {
    Read made{read_pack_folder(path, problems), {}, {}};
    made.decoded = decode_pack(made.folder, problems);
    return made;
  }

  void read_all() {
    for (const std::string& path : request_.packs) add(read(path, problems_));
    if (!names_.contains(kCorePack) && !request_.core.empty()) {
      Read core = read(request_.core, problems_);
      const model::PackDefinition& pack = core.decoded.definition;
      if (core.decoded.readable && !pack.name.empty() && pack.name != kCorePack) {
        problems_.add(pack.place,
                      fmt::format("the core pack is called '{}', not '{}'", kCorePack, pack.name));
      }
      add(std::move(core));
    }
    add_needed();
  }

  void add(Read&& read) {
    names_.insert(read.decoded.definition.name);
    reads_.push_back(std::move(read));
  }

  // What a pack of the pool has wrong counts only once the pack does.
  void add_needed() {
    struct Candidate {
      Read read;
      std::vector<document::Problem> problems;
    };
    std::map<std::string, Candidate, std::less<>> pool;
    for (const std::string& path : request_.pool) {
      document::Problems problems;
      Read made = read(path, problems);
      const std::string name = made.decoded.definition.name;
      pool.try_emplace(name, Candidate{std::move(made), std::move(problems).take()});
    }
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const std::vector<model::PackNeed> needs = reads_[i].decoded.definition.needs;
      for (const model::PackNeed& need : needs) {
        const auto found = pool.find(need.pack);
        if (names_.contains(need.pack) || found == pool.end()) continue;
        problems_.add(std::move(found->second.problems));
        add(std::move(found->second.read));
      }
    }
    for (auto& [name, candidate] : pool) {
      if (!names_.contains(name)) unused_.push_back(std::move(candidate.read.decoded.definition));
    }
  }

  void check_core() {
    for (const Read& read : reads_) {
      const bool is_core = read.decoded.definition.name == kCorePack;
      if (is_core && !read.folder.ruleset && read.decoded.readable) {
        problems_.add(read.decoded.definition.place,
                      "the core pack has a file ruleset.yaml; here is none");
      }
      if (!is_core && read.folder.ruleset) {
        problems_.add({read.folder.place_of("ruleset.yaml"), 0, 0},
                      "only the core pack has a ruleset");
      }
    }
  }

  void find_plugin(Read& read) {
    const DecodedPack& decoded = read.decoded;
    if (decoded.program.empty()) return;
    read.program =
        find_program(read.folder, decoded.program, decoded.program_place, problems_).value_or("");
  }

  // Of a pack that could not be read in full nobody knows what it defines: it and those that need
  // it are left out when types are put together, so that nothing is called unknown that is not. If
  // not even its name is known, any other may be one that needs it.
  void find_judgeable() {
    const bool is_nameless = std::any_of(reads_.begin(), reads_.end(), [](const Read& read) {
      return !read.decoded.readable && read.decoded.definition.name.empty();
    });
    if (is_nameless) return;
    std::set<std::string, std::less<>> unknown;
    const auto is_known = [&](const Read& read) {
      const auto& needs = read.decoded.definition.needs;
      return read.decoded.readable && !unknown.contains(kCorePack) &&
             std::none_of(needs.begin(), needs.end(),
                          [&](const model::PackNeed& need) { return unknown.contains(need.pack); });
    };
    for (std::size_t before = 1; before != unknown.size();) {
      before = unknown.size();
      for (const Read& read : reads_) {
        if (!is_known(read)) unknown.insert(read.decoded.definition.name);
      }
    }
    for (Read& read : reads_) {
      if (is_known(read)) judgeable_.push_back(&read);
    }
  }

  void build(LoadedPacks& loaded) {
    std::vector<model::PackDefinition> definitions;
    definitions.reserve(judgeable_.size());
    for (const Read* read : judgeable_) definitions.push_back(read->decoded.definition);
    model::SchemaOptions options;
    for (const model::PackDefinition& pack : unused_) options.others.push_back(&pack);
    model::BuiltSchema built = model::build_schema(definitions, options);
    add(std::move(built.errors));
    if (built.schema == nullptr) return;
    loaded.schema = std::move(built.schema);
    for (const Read* read : judgeable_) {
      if (read->decoded.definition.name != kCorePack) continue;
      check_core_types(*loaded.schema, read->decoded.definition.place);
      if (!read->folder.ruleset) continue;
      plan::BuiltRuleset ruleset = plan::build_ruleset(read->decoded.groups, *loaded.schema);
      add(std::move(ruleset.errors));
      loaded.ruleset = std::move(ruleset.ruleset);
    }
    build_templates(loaded);
  }

  void build_templates(LoadedPacks& loaded) {
    std::vector<plan::TaskTemplate> templates;
    for (Read* read : judgeable_) {
      std::move(read->decoded.templates.begin(), read->decoded.templates.end(),
                std::back_inserter(templates));
    }
    std::vector<std::string> tags;
    if (loaded.ruleset) {
      for (const plan::Group& group : loaded.ruleset->groups) tags.push_back(group.tag);
    }
    plan::BuiltTemplates built = plan::build_templates(std::move(templates), *loaded.schema, tags);
    add(std::move(built.errors));
    if (built.templates) loaded.templates = std::move(*built.templates);
  }

  void check_core_types(const model::Schema& schema, const model::Place& place) {
    for (const std::string_view id : kCoreTypes) {
      if (schema.find_item_type(id) != nullptr) continue;
      problems_.add(place, fmt::format("the core pack defines no item type '{}'", id));
    }
  }

  void add(std::vector<model::DefinitionError> errors) {
    for (model::DefinitionError& error : errors) {
      problems_.add(std::move(error.place), std::move(error.message));
    }
  }

  // Names that need each other come in the order of their names; that they do is told elsewhere.
  std::vector<LoadedPack> in_order_of_needs() {
    std::map<std::string, const Read*, std::less<>> left;
    for (const Read& read : reads_) left.emplace(read.decoded.definition.name, &read);
    std::vector<LoadedPack> order;
    while (!left.empty()) {
      auto next = std::find_if(left.begin(), left.end(), [&](const auto& entry) {
        const auto& needs = entry.second->decoded.definition.needs;
        return std::none_of(needs.begin(), needs.end(),
                            [&](const model::PackNeed& need) { return left.contains(need.pack); });
      });
      if (next == left.end()) next = left.begin();
      const Read& read = *next->second;
      order.push_back({read.decoded.definition.name, read.decoded.definition.version,
                       read.folder.path, read.program, !read.folder.templates.empty()});
      left.erase(next);
    }
    return order;
  }

  const LoadRequest& request_;
  document::Problems problems_;
  std::vector<Read> reads_;
  std::vector<Read*> judgeable_;
  std::vector<model::PackDefinition> unused_;  // of the pool
  std::set<std::string, std::less<>> names_;
};

}  // namespace

LoadedPacks load_packs(const LoadRequest& request) { return Loader(request).load(); }

}  // namespace muster::pack
