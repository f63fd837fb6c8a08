#include "controller/controller.h"

#include "controller/engine_loop.h"
#include "log/log.h"
#include "store/record_codec.h"

namespace muster::controller {
namespace {

constexpr std::size_t kLoadPage = 5000;

// Loads every record of a space into the engine. A record that cannot be decoded is set aside and
// reported; it never stops the start.
template <typename Decode, typename Restore>
Result<std::size_t> load_space(store::Store& store, store::Space space, Timestamp now,
                               Decode decode, Restore restore) {
  std::size_t loaded = 0;
  std::string after;
  while (true) {
    MUSTER_TRY_ASSIGN(store::RecordPage page, store.load(space, after, kLoadPage));
    for (const store::Record& record : page.records) {
      after = record.key;
      auto decoded = decode(record.value);
      if (decoded) {
        restore(std::move(*decoded));
        ++loaded;
        continue;
      }
      log::error("a record cannot be decoded and is quarantined",
                 {{"space", static_cast<int>(space)}, {"problem", decoded.error().message}});
      MUSTER_TRY(store.quarantine(space, record.key, decoded.error().message, now));
    }
    if (!page.more || page.records.empty()) return loaded;
  }
}

// The highest creation number of any action, finished ones included, so that it is never reused.
Result<std::uint64_t> last_action_seq(store::Store& store) {
  store::ActionQuery query;
  query.sort = {{store::SortKey::Seq, true}};
  query.limit = 1;
  MUSTER_TRY_ASSIGN(const auto newest, store.query_actions(query));
  // From the index: the record itself may be one that cannot be decoded.
  return newest.empty() ? std::uint64_t{0} : newest.front().seq;
}

}  // namespace

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options,
                                                      store::Store& store, store::Term term,
                                                      Outlets& outlets) {
  const Timestamp now = options.clock();
  core::Engine engine(options.engine);
  MUSTER_TRY_ASSIGN(
      const std::size_t agents,
      load_space(store, store::Space::Agent, now, store::decode_agent,
                 [&](core::AgentPtr agent) { engine.restore_agent(std::move(agent)); }));
  MUSTER_TRY_ASSIGN(
      const std::size_t actions,
      load_space(store, store::Space::Action, now, store::decode_action,
                 [&](core::ActionPtr action) { engine.restore_action(std::move(action)); }));
  MUSTER_TRY_ASSIGN(
      [[maybe_unused]] const std::size_t keys,
      load_space(store, store::Space::Idempotency, now, store::decode_idempotency,
                 [&](core::PutIdempotency key) { engine.restore_idempotency(std::move(key)); }));
  MUSTER_TRY_ASSIGN(const std::uint64_t seq, last_action_seq(store));
  engine.restore_action_seq(seq);
  MUSTER_TRY_ASSIGN(const store::EventPage events, store.events(0, 1));
  engine.restore_event_seq(events.last);
  log::info("store loaded", {{"agents", agents}, {"live_actions", actions}});

  core::Effects first = engine.start(now);
  auto loop = std::make_unique<EngineLoop>(std::move(options), store, outlets, std::move(engine));
  loop->begin(term, std::move(first));
  return std::unique_ptr<Controller>(std::move(loop));
}

}  // namespace muster::controller
