#include "controller/controller.h"

#include "controller/engine_loop.h"
#include "controller/record_text.h"
#include "log/log.h"
#include "store/engine_loader.h"

namespace muster::controller {
namespace {

void report_quarantined(store::Space space, std::string_view key, const Error& problem) {
  log::error(
      "a record cannot be decoded and is quarantined",
      {{"space", space_name(space)}, {"key", key_text(space, key)}, {"problem", problem.message}});
}

}  // namespace

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options,
                                                      store::Store& store, store::Term term,
                                                      Outlets& outlets) {
  const Timestamp now = options.clock();
  core::Engine engine(options.engine);
  MUSTER_TRY_ASSIGN(const store::Loaded loaded,
                    store::load_engine(store, engine, now, report_quarantined));
  log::info("store loaded",
            {{"agents", loaded.agents}, {"live_actions", loaded.actions}, {"items", loaded.items}});

  core::Effects first = engine.start(now);
  auto loop = std::make_unique<EngineLoop>(std::move(options), store, outlets, std::move(engine));
  loop->begin(term, std::move(first));
  return std::unique_ptr<Controller>(std::move(loop));
}

}  // namespace muster::controller
