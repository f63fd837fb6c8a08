#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/api_state.h"

// What the routes of the model share. Internal to the API.

namespace muster::controller {

// Of `{path...}`; without it the root.
Result<model::Path> path_of(const Call& call);

// Reads the model on the engine's thread and passes what `read` made of it on to a worker. NotFound
// where the controller has no model.
template <typename T>
void ask_model(const CallPtr& call, std::function<Result<T>(const core::ModelView&)> read,
               std::function<void(T)> done);

// Sends an edit and answers with what it changed; with `status`, and with the item at `shown` where
// there is one. If-Match, Idempotency-Key and ?dry_run are taken from the request.
struct Edit {
  core::ModelChange change;
  std::string why;
  bool dry_run = false;
  int status = 200;
  std::optional<model::Path> shown = {};
};
void send_edit(const CallPtr& call, Edit edit);

// --- Implementation. ---

inline Error no_model() {
  return {ErrorCode::NotFound,
          "this controller has no model, because no packs were found; start it with --packs DIR"};
}

template <typename T>
void ask_model(const CallPtr& call, std::function<Result<T>(const core::ModelView&)> read,
               std::function<void(T)> done) {
  using Answer = Result<T>;
  ask_engine<Answer>(
      call->api,
      [read = std::move(read)](const core::Engine& engine, Timestamp) -> Answer {
        const auto view = engine.model();
        if (!view) return fail(no_model());
        return read(*view);
      },
      [call, done = std::move(done)](Result<Answer> asked) {
        if (!asked) return call->refuse(asked.error());
        if (!*asked) return call->refuse(asked->error());
        done(std::move(**asked));
      });
}

}  // namespace muster::controller
