#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/benchmarks.h"
#include "bench/model_site.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"
#include "sitefile/site.h"
#include "sitefile/writer.h"
#include "store/model_loader.h"
#include "store/sqlite_store.h"

namespace muster::bench {
namespace {

using model::Path;

// Of this process, whatever its allocator keeps for later.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t nodes_for(std::size_t items, std::size_t of_node) {
  return std::max<std::size_t>(1, (items + of_node - 1) / of_node);
}

std::string first_error(const model::EditOutcome& outcome) {
  if (!outcome.errors.empty()) return outcome.errors.front().message;
  return outcome.questions.empty() ? "nothing" : "a question";
}

struct Loaded {
  model::Tree tree;
  double seconds = 0;
  double bytes_per_item = 0;
};

Result<Loaded> load(const std::string& file, const model::Schema& schema) {
  const std::size_t before = resident_bytes();
  const Stopwatch watch;
  std::optional<core::RestoredModel> restored;
  {
    MUSTER_TRY_ASSIGN(const auto store, store::SqliteStore::open({.path = file}));
    MUSTER_TRY_ASSIGN(restored, store::load_model(*store, schema));
  }
  const double seconds = watch.seconds();
  if (!restored) return fail(ErrorCode::Internal, "the store has no model");
  const std::size_t taken = resident_bytes() - before;
  const auto beyond =
      static_cast<double>(taken) - static_cast<double>(text_bytes(restored->tree.root()));
  const double per_item = beyond / static_cast<double>(restored->tree.size());
  return Loaded{std::move(restored->tree), seconds, per_item};
}

// In a process of its own, so that memory which it gave back is not taken for what a load needs.
Result<void> store_in_child(const std::string& file, std::size_t nodes,
                            const model::SchemaPtr& schema) {
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::IoError, "cannot fork: {}", ::strerror(errno));
  if (child == 0) {
    const auto write = [&]() -> Result<void> {
      MUSTER_TRY_ASSIGN(const auto store, store::SqliteStore::open({.path = file}));
      MUSTER_TRY(store_site(*store, nodes, schema));
      return {};
    };
    const auto written = write();
    if (!written) ::fprintf(stderr, "%s\n", written.error().message.c_str());
    ::_exit(written ? 0 : 1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) {
    return fail(ErrorCode::Internal, "the site could not be made");
  }
  return {};
}

// One after the other: a value, a new item, an item that inherits, and two removals.
class Edits {
 public:
  Edits(model::Tree& tree, const model::Schema& schema, std::size_t nodes)
      : tree_(tree), schema_(schema), nodes_(nodes) {}

  Result<void> run(std::size_t count, const Host& host) {
    for (std::size_t i = 0; i < count; ++i) {
      if (host.interrupted()) return fail(interrupted_error());
      const Path node = node_path(i / 5 * 7919 % nodes_);
      const Path configs = node.child("configs");
      const Path items = node.child("items");
      const Path package = unused_package(items);
      model::Operation operation;
      switch (i % 5) {
        case 0:
          operation = model::UpdateItem{
              configs.child("config-3"), {{"value", fmt::format("edit {}", i)}}, {}};
          break;
        case 1:
          operation = model::CreateItem{
              configs, "new", "config", {{"path", "/etc/new"}, {"value", "x"}, {"mode", "0600"}}};
          break;
        case 2:
          operation = model::InheritItem{items, "new", package, {{"version", "2.0"}}};
          break;
        case 3:
          operation = model::RemoveItem{items.child("new")};
          break;
        default:
          operation = model::RemoveItem{configs.child("config-4")};
      }
      MUSTER_TRY(time(operation, samples_));
    }
    return {};
  }

  // A package that many nodes have: all of them are checked and change their state.
  Result<void> run_shared(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const Path package = path("/software/items/package-3");
      shared_inheritors_ = tree_.find(package)->inheritors().size();
      MUSTER_TRY(time(model::UpdateItem{package, {{"version", fmt::format("3.{}", i)}}, {}},
                      shared_samples_));
    }
    return {};
  }

  Samples& samples() { return samples_; }
  Samples& shared_samples() { return shared_samples_; }
  std::size_t shared_inheritors() const { return shared_inheritors_; }

 private:
  static Path path(std::string_view text) { return Path::parse(text).value(); }

  Path unused_package(const Path& items) const {
    for (std::size_t i = 0;; ++i) {
      const std::string id = fmt::format("package-{}", i);
      if (!tree_.find(items.child(id))) return path("/software/items").child(id);
    }
  }

  Result<void> time(model::Operation operation, Samples& samples) {
    const std::vector<model::Operation> operations = {std::move(operation)};
    const Stopwatch watch;
    const model::EditOutcome outcome = model::edit(tree_, schema_, operations, model::Actor::User);
    samples.add(watch.elapsed());
    if (outcome.ok() && !outcome.changes.empty()) return {};
    return fail(ErrorCode::Internal, "an edit was refused: {}", first_error(outcome));
  }

  model::Tree& tree_;
  const model::Schema& schema_;
  const std::size_t nodes_;
  Samples samples_;
  Samples shared_samples_;
  std::size_t shared_inheritors_ = 0;
};

// A model file that says what is there already.
struct Unchanged {
  std::size_t items = 0;
  double read_seconds = 0;
  double compare_seconds = 0;
  double file_mib = 0;
};

Result<Unchanged> apply_unchanged(std::size_t items, const model::Schema& schema) {
  model::Tree tree = model::empty_model(schema);
  std::string file;
  {
    const model::Declaration declaration = site_declaration(nodes_for(items, kDeclaredOfNode));
    const model::EditOutcome made =
        model::apply(tree, schema, Path(), declaration, model::Prune::Nothing);
    if (!made.ok()) return fail(ErrorCode::Internal, "a site was refused: {}", first_error(made));
    file = sitefile::write_yaml(model::declare(tree.root(), model::Detail::Brief));
  }
  Unchanged result;
  result.file_mib = static_cast<double>(file.size()) / (1 << 20);
  const Stopwatch reading;
  const sitefile::Site site = sitefile::read_site_text(file, "site.yaml", {});
  result.read_seconds = reading.seconds();
  if (!site.good()) {
    return fail(ErrorCode::Internal, "a file was refused: {}", to_text(site.problems.front()));
  }
  const Stopwatch comparing;
  const model::EditOutcome outcome =
      model::apply(tree, schema, site.at, site.declaration, model::Prune::Nothing);
  result.compare_seconds = comparing.seconds();
  if (!outcome.ok() || !outcome.changes.empty()) {
    return fail(ErrorCode::Internal, "the file changed something: {}", first_error(outcome));
  }
  result.items = count_declared(site.declaration);
  return result;
}

}  // namespace

Result<Json> run_model(const ModelOptions& options, const Host& host) {
  const model::SchemaPtr schema = site_schema();
  const std::size_t nodes = nodes_for(options.items, kItemsOfNode);
  host.say(fmt::format("making a site of {} nodes\n", nodes));
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  const std::string file = scratch.path() + "/model.db";
  const Stopwatch making;
  MUSTER_TRY(store_in_child(file, nodes, schema));
  const double make_seconds = making.seconds();
  if (host.interrupted()) return fail(interrupted_error());

  host.say("loading it\n");
  MUSTER_TRY_ASSIGN(Loaded loaded, load(file, *schema));
  const std::size_t count = loaded.tree.size();
  host.say("editing\n");
  Edits edits(loaded.tree, *schema, nodes);
  MUSTER_TRY(edits.run(options.edits, host));
  MUSTER_TRY(edits.run_shared(20));

  host.say(fmt::format("applying an unchanged file of {} items\n", options.file_items));
  MUSTER_TRY_ASSIGN(const Unchanged unchanged, apply_unchanged(options.file_items, *schema));
  return Json{{"bench", "model"},
              {"count", count},
              {"seconds", rounded(loaded.seconds, 3)},
              {"rate_per_s", rounded(static_cast<double>(count) / loaded.seconds, 1)},
              {"bytes_per_item", rounded(loaded.bytes_per_item, 1)},
              {"edits", edits.samples().count()},
              {"p50_ms", rounded(edits.samples().percentile_ms(0.5), 3)},
              {"p99_ms", rounded(edits.samples().percentile_ms(0.99), 3)},
              {"max_ms", rounded(edits.samples().percentile_ms(1.0), 3)},
              {"shared_edit_ms", rounded(edits.shared_samples().percentile_ms(0.5), 3)},
              {"shared_edit_items", edits.shared_inheritors()},
              {"apply_items", unchanged.items},
              {"apply_seconds", rounded(unchanged.read_seconds + unchanged.compare_seconds, 3)},
              {"apply_read_seconds", rounded(unchanged.read_seconds, 3)},
              {"apply_compare_seconds", rounded(unchanged.compare_seconds, 3)},
              {"file_mib", rounded(unchanged.file_mib, 1)},
              {"make_seconds", rounded(make_seconds, 3)}};
}

}  // namespace muster::bench
