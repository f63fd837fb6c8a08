#include "bench/history.h"

#include <algorithm>
#include <array>
#include <memory>

#include "bench/host.h"
#include "core/effects.h"
#include "store/record_codec.h"
#include "store/sqlite_store.h"

namespace muster::bench {
namespace {

constexpr std::size_t kBatch = 20'000;
constexpr std::size_t kAgents = 250;
constexpr Duration kSpread = Duration::days(1);
constexpr std::array<std::string_view, 4> kKinds = {"exec", "script", "file.put", "noop"};

core::ActionPtr make_action(std::size_t index, std::size_t total, Timestamp now) {
  const std::int64_t age =
      kSpread.us - kSpread.us / static_cast<std::int64_t>(total) * static_cast<std::int64_t>(index);
  auto spec = std::make_shared<core::ActionSpec>();
  spec->id = history_id(index);
  spec->seq = index + 1;
  spec->kind = kKinds[index % kKinds.size()];
  spec->name = fmt::format("{}_{}", spec->kind, spec->id.to_string().substr(0, 8));
  spec->target = fmt::format("host-{}", index * 7919 % kAgents);
  spec->side = core::Side::Agent;
  spec->requested_by = "uid:1000";
  spec->inputs = R"({"argv":["/usr/local/bin/backup","--full"],"cwd":"/var/lib/db"})";
  spec->timeout = Duration::hours(1);
  spec->queue_timeout = Duration::days(1);
  spec->created_at = now - Duration::micros(age);
  auto action = std::make_shared<core::Action>();
  action->revision = 4;
  const bool failed = index % 17 == 0;
  action->status = failed ? core::Status::Failed : core::Status::Succeeded;
  if (failed) action->status_reason = "exit code 2";
  action->owner = spec->target;
  action->tries = 1;
  action->sent = true;
  action->sent_journal = history_id(index % kAgents).to_string();
  action->start_time = spec->created_at + Duration::millis(3);
  action->stop_time = spec->created_at + Duration::millis(3 + static_cast<int>(index % 977));
  action->status_since = action->stop_time;
  action->updated_at = action->stop_time;
  action->outputs = R"({"duration_ms":12,"exit_code":0,"output_bytes":64,"output_tail":"done"})";
  action->spec = std::move(spec);
  return action;
}

core::AppendEvent make_event(const core::Action& action) {
  core::Event event;
  event.seq = action.spec->seq;
  event.at = action.updated_at;
  event.type = "action.status";
  event.subject = action.id().to_string();
  event.name = action.spec->name;
  event.kind = action.spec->kind;
  event.target = action.spec->target;
  event.status = core::name(action.status);
  event.reason = action.status_reason;
  event.revision = action.revision;
  return {std::move(event)};
}

}  // namespace

core::ActionId history_id(std::size_t index) {
  // Scattered like random ids, or the index over them would be filled in order.
  std::uint64_t high = (index + 1) * 0x9E3779B97F4A7C15U;
  high ^= high >> 29;
  high *= 0xBF58476D1CE4E5B9U;
  return Uuid::v4(high, index);
}

Result<void> write_history(const std::string& path, std::size_t actions, Timestamp now,
                           const std::function<bool()>& interrupted) {
  MUSTER_TRY_ASSIGN(const auto store, store::SqliteStore::open({.path = path}));
  MUSTER_TRY_ASSIGN(const store::Term term, store->acquire_term());
  for (std::size_t first = 0; first < actions; first += kBatch) {
    if (interrupted()) return fail(interrupted_error());
    store::Batch batch;
    batch.term = term;
    for (std::size_t i = first; i < std::min(first + kBatch, actions); ++i) {
      const core::ActionPtr action = make_action(i, actions, now);
      store::append(batch, core::PutAction{action});
      store::append(batch, make_event(*action));
    }
    MUSTER_TRY(store->commit(batch));
  }
  return {};
}

}  // namespace muster::bench
