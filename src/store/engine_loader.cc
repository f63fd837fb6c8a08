#include "store/engine_loader.h"

#include <string>
#include <utility>

#include "store/model_loader.h"
#include "store/plan_codec.h"
#include "store/record_codec.h"

namespace muster::store {
namespace {

constexpr std::size_t kLoadPage = 5000;
constexpr std::size_t kLookupMatchesMax = 6;

template <typename Decode, typename Restore>
Result<std::size_t> load_space(Store& store, Space space, Timestamp now, Decode decode,
                               const OnQuarantined& on_quarantined, Restore restore) {
  std::size_t loaded = 0;
  std::string after;
  while (true) {
    MUSTER_TRY_ASSIGN(RecordPage page, store.load(space, after, kLoadPage));
    for (const Record& record : page.records) {
      after = record.key;
      auto decoded = decode(record.value);
      if (decoded) {
        restore(std::move(*decoded));
        ++loaded;
        continue;
      }
      on_quarantined(space, record.key, decoded.error());
      MUSTER_TRY(store.quarantine(space, record.key, decoded.error().message, now));
    }
    if (!page.more || page.records.empty()) return loaded;
  }
}

// The highest creation number of any action, finished ones included, so that it is never reused.
Result<std::uint64_t> last_action_seq(Store& store) {
  ActionQuery query;
  query.sort = {{SortKey::Seq, true}};
  query.limit = 1;
  MUSTER_TRY_ASSIGN(const auto newest, store.query_actions(query));
  // From the index: the record itself may be one that cannot be decoded.
  return newest.empty() ? std::uint64_t{0} : newest.front().seq;
}

}  // namespace

Result<Loaded> load_engine(Store& store, core::Engine& engine, Timestamp now,
                           const OnQuarantined& on_quarantined) {
  Loaded loaded;
  MUSTER_TRY_ASSIGN(loaded.agents, load_space(store, Space::Agent, now, decode_agent,
                                              on_quarantined, [&](core::AgentPtr agent) {
                                                engine.restore_agent(std::move(agent));
                                              }));
  MUSTER_TRY_ASSIGN(loaded.actions, load_space(store, Space::Action, now, decode_action,
                                               on_quarantined, [&](core::ActionPtr action) {
                                                 engine.restore_action(std::move(action));
                                               }));
  MUSTER_TRY_ASSIGN(
      [[maybe_unused]] const std::size_t keys,
      load_space(store, Space::Idempotency, now, decode_idempotency, on_quarantined,
                 [&](core::PutIdempotency key) { engine.restore_idempotency(std::move(key)); }));
  if (const auto view = engine.model()) {
    MUSTER_TRY_ASSIGN(auto model, load_model(store, view->schema));
    if (model) {
      loaded.items = model->tree.size();
      engine.restore_model(std::move(*model));
    }
  }
  MUSTER_TRY_ASSIGN(
      [[maybe_unused]] const std::size_t plans,
      load_space(store, Space::Plan, now, decode_plan_record, on_quarantined,
                 [&](core::PlanRecordPtr plan) { engine.restore_plan(std::move(plan)); }));
  MUSTER_TRY_ASSIGN(const std::uint64_t seq, last_action_seq(store));
  engine.restore_action_seq(seq);
  MUSTER_TRY_ASSIGN(const EventPage events, store.events(0, 1));
  engine.restore_event_seq(events.last);
  return loaded;
}

core::LookupDone answer_lookup(Store& store, const core::Lookup& lookup) {
  core::LookupDone done{.lookup = lookup.lookup, .found = {}};
  const auto take = [&](std::string_view value) {
    auto action = decode_action(value);
    if (action && (*action)->is_final()) done.found.push_back(std::move(*action));
  };
  for (const core::ActionId& id : lookup.ids) {
    const auto record = store.get(Space::Action, id.bytes());
    if (record && *record) take(**record);
  }
  for (const std::string& name : lookup.names) {
    const auto records = store.find_actions_by_name(name, kLookupMatchesMax);
    if (!records) continue;
    for (const Record& record : *records) take(record.value);
  }
  // The first digits of an id may also name a live one; which it is, is for the engine to say.
  for (const std::string& prefix : lookup.prefixes) {
    const auto records = store.find_actions_by_prefix(prefix, kLookupMatchesMax);
    if (!records) continue;
    for (const Record& record : *records) {
      if (auto action = decode_action(record.value)) done.found.push_back(std::move(*action));
    }
  }
  return done;
}

}  // namespace muster::store
