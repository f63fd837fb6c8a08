#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "log/log.h"
#include "model/schema.h"
#include "plugin/failure.h"
#include "plugin/launcher.h"
#include "plugin/message.h"
#include "plugin/wire.h"

namespace muster::plugin {

// The plugin of a pack.
struct Program {
  std::string pack;
  std::string version;  // of the pack
  std::string program;  // whole path
  std::string folder;   // of the pack
};

// Where lines of plugins go.
using LogSink = std::function<void(log::Level, const std::string& pack, std::string_view text)>;
// Into the log of this process.
LogSink process_log();

struct SessionOptions {
  std::string muster_version;
  std::string sdk;  // folder of the Python SDK; empty: none is named
  WireLimits limits;
  Duration start_timeout = Duration::seconds(10);
  LogSink log = process_log();
  // Told of processes that a plugin left behind when it ended; they are killed. Empty: they go to
  // the log.
  std::function<void(const std::string& pack, const std::vector<std::string>& processes)>
      on_left_behind = {};
};

// What a plugin says it has.
struct Capabilities {
  std::string name;
  std::string version;
  std::vector<std::string> methods;
  std::vector<std::string> checks;
  std::vector<std::string> views;
  std::vector<std::string> callbacks;

  bool has_method(std::string_view method) const;
};

// The answer to a request of the plugin: a result, an error, or lines that come before the result.
struct StreamAnswer {
  Wire::Source source;
  Json result;
};
using RequestAnswer = std::variant<Json, RpcError, StreamAnswer>;

// What a plugin asks for while it is being called.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual RequestAnswer on_request(const std::string& method, Json& params) = 0;
  // Tasks that come before the answer. Not empty: why they are not wanted, which ends the plugin.
  virtual std::string on_tasks(Json&& tasks) = 0;
};

// One process of a plugin, from its start to its end. Calls come one after the other; used by one
// thread at a time. A call that fails for anything but an answer of the plugin ends the process.
class Session {
 public:
  struct CallOptions {
    Duration timeout = Duration::seconds(60);
    const std::atomic<bool>* cancelled = nullptr;  // borrowed; looked at a few times a second
  };

  // Starts the program and agrees on the protocol. Whatever the pack's types want of the plugin
  // must be among what it has.
  static PluginResult<std::unique_ptr<Session>> start(Launcher& launcher, const Program& program,
                                                      const SessionOptions& options,
                                                      const model::Schema& schema);

  const Capabilities& capabilities() const { return capabilities_; }
  const Program& program() const { return program_; }
  PluginResult<Json> call(std::string_view method, const Json& params, CallHandler& handler,
                          const CallOptions& options);
  // It lives, and nothing has come that nobody waited for.
  bool is_idle() { return wire_->is_quiet(); }
  // True: it ended by itself once its input had ended.
  bool close();
  PluginFailure failure(FailureKind kind, std::string_view method, std::string reason) const;
  // Ends the process for what it has sent.
  PluginFailure kill(FailureKind kind, std::string_view method, std::string reason);

 private:
  Session(const Program& program, const SessionOptions& options)
      : program_(program), options_(options) {}

  PluginResult<Json> converse(std::string_view method, std::int64_t id, CallHandler& handler,
                              const CallOptions& options);
  PluginResult<void> initialize(const model::Schema& schema);
  PluginResult<void> take_capabilities(const Json& answer, const model::Schema& schema);
  void answer(const PluginRequest& request, RequestAnswer&& answer);
  void log_notification(const Json& params);

  const Program program_;
  const SessionOptions options_;
  std::unique_ptr<Wire> wire_;
  Capabilities capabilities_;
  std::int64_t last_id_ = 0;
};

}  // namespace muster::plugin
