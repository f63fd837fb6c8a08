#include "controller/server_main.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "controller/api.h"
#include "controller/api_model_request.h"
#include "controller/authorizer.h"
#include "controller/controller.h"
#include "controller/event_hub.h"
#include "controller/job_pool.h"
#include "controller/link_inlet.h"
#include "controller/log_broker.h"
#include "controller/metrics.h"
#include "controller/model_advisor.h"
#include "controller/model_snapshot.h"
#include "controller/plan_maker.h"
#include "http/server.h"
#include "log/log.h"
#include "os/clock.h"
#include "os/notify.h"
#include "os/random.h"
#include "pack/shipped.h"
#include "plugin/host.h"
#include "rpc/endpoint.h"
#include "rpc/link_server.h"
#include "store/sqlite_store.h"

namespace muster::controller {
namespace {

// The engine's outlets, wired once everything stands. The link and the jobs need the controller and
// the controller needs them, so they are set after construction and before anything can be sent.
class Wiring final : public Outlets {
 public:
  void send_to_agent(const core::AgentSend& send) override { sends_.push_back(send); }
  void run_job(const core::Job& job) override { jobs->run(job); }
  void ask_model(const core::AskModel& ask) override { advisor->ask(ask); }
  void publish(const core::Event& event) override {
    metrics->on_event(event);
    events->publish(event);
  }
  void flush() override {
    events->flush();
    if (!sends_.empty()) link->send_all(sends_);
    sends_.clear();
  }
  void measured(const core::Measurement& measurement) override {
    metrics->on_measured(measurement);
  }
  void commit_took(Duration duration) override { metrics->on_commit(duration); }

  rpc::LinkServer* link = nullptr;
  JobPool* jobs = nullptr;
  ModelAdvisor* advisor = nullptr;
  EventHub* events = nullptr;
  Metrics* metrics = nullptr;

 private:
  std::vector<core::AgentSend> sends_;  // gathered since the last flush
};

int refuse_to_start(const Error& error) {
  std::fprintf(stderr, "muster server: %s (%s)\n", error.message.c_str(),
               std::string(name(error.code)).c_str());
  return 1;
}

constexpr std::string_view kRunDir = "/run/muster";
constexpr std::string_view kRunSocket = "/run/muster/muster.sock";

Result<void> make_directory(const std::string& path, mode_t mode, std::string_view what) {
  // Made anew, it gets the mode whatever the umask; one that is there keeps its own.
  if (::mkdir(path.c_str(), mode) == 0) {
    if (::chmod(path.c_str(), mode) == 0) return {};
  } else if (errno == EEXIST) {
    return {};
  }
  return fail(ErrorCode::IoError, "cannot make the {} directory '{}': {}", what, path,
              std::strerror(errno));
}

bool stands_in(const std::string& path, const std::string& directory) {
  const auto normal = [](const std::string& text) {
    return std::filesystem::path(text + "/").lexically_normal().parent_path();
  };
  return std::filesystem::path(path).lexically_normal().parent_path() == normal(directory);
}

// Whoever reaches such a port commands every host of the fleet, so it must not stay unnoticed.
void warn_of_exposure(const ServerOptions& options) {
  if (!options.insecure) return;
  log::warn(
      "--insecure: whoever reaches these addresses can run commands on every host, "
      "without a password and unencrypted",
      {{"listen", options.listen}, {"agent_listen", options.agent_listen}});
}

// What can be known without touching anything: a typing mistake must not open the store, nor make
// agents see a new term.
Result<void> check_addresses(const ServerOptions& options) {
  MUSTER_TRY_ASSIGN(const rpc::Endpoint agents, rpc::parse_endpoint(options.agent_listen));
  MUSTER_TRY(rpc::check_exposure(agents, options.insecure));
  if (options.listen.empty()) return {};
  return http::check_tcp_address(options.listen, options.insecure);
}

// A program that came without packs serves actions all the same; packs that were named must be
// right.
Result<pack::LoadedPacks> load_packs(const ServerOptions& options) {
  const pack::PackOptions wanted{
      .packs = options.packs, .core_pack = options.core_pack, .extra = options.extra_packs};
  const auto request = pack::all_packs(wanted);
  if (!request) {
    if (!wanted.core_pack.empty() || !wanted.extra.empty()) return fail(request.error());
    log::warn("there is no deployment model", {{"problem", request.error().message}});
    return pack::LoadedPacks{};
  }
  pack::LoadedPacks loaded = pack::load_packs(*request);
  if (loaded.good()) return loaded;
  std::string text;
  for (const document::Problem& problem : loaded.problems) {
    text += fmt::format("\n  {}", document::to_text(problem));
  }
  return fail(ErrorCode::InvalidValue, "the packs cannot be used:{}", text);
}

ControllerOptions controller_options(const ServerOptions& options, const std::string& instance,
                                     model::SchemaPtr schema) {
  ControllerOptions result;
  result.engine.instance_id = instance;
  result.engine.schema = std::move(schema);
  result.engine.model_revisions_max = options.model_revisions;
  result.engine.default_timeout = options.default_timeout;
  result.engine.default_queue_timeout = options.default_queue_timeout;
  result.engine.workers = options.workers;
  result.retention = {.age_max = options.retention_age,
                      .count_max = options.retention_count,
                      .events_max = options.retention_events};
  result.random = os::system_random;
  result.clock = os::system_now;
  return result;
}

class ServerProcess {
 public:
  explicit ServerProcess(const ServerOptions& options) : options_(options) {}

  // Everything up to serving. Agents are let in last, when the API can already tell about them.
  Result<void> start() {
    MUSTER_TRY(check_socket_group());
    MUSTER_TRY(make_directory(options_.data_dir, 0700, "data"));
    // Open to all, unlike the data directory: who may connect is told by the socket's own mode.
    if (socket_path() == kRunSocket) {
      MUSTER_TRY(make_directory(std::string(kRunDir), 0755, "socket's"));
    }
    warn_of_exposure(options_);
    MUSTER_TRY_ASSIGN(packs_, load_packs(options_));
    if (packs_.schema) start_plugins();
    const std::string path = options_.data_dir + "/muster.db";
    MUSTER_TRY_ASSIGN(store_, store::SqliteStore::open({.path = path}));
    MUSTER_TRY_ASSIGN(const store::Term term, store_->acquire_term());
    const std::string instance = Uuid::v4(os::system_random(), os::system_random()).to_string();

    metrics_ = std::make_unique<Metrics>(options_.version, os::system_now());
    events_ = std::make_unique<EventHub>(*store_);
    wiring_.metrics = metrics_.get();
    wiring_.events = events_.get();
    jobs_ = std::make_unique<JobPool>(options_.workers,
                                      [this](core::Input input) { inlet_.post(std::move(input)); });
    wiring_.jobs = jobs_.get();
    advisor_ = std::make_unique<ModelAdvisor>(
        [this](core::Input input) { inlet_.post(std::move(input)); },
        [this](const std::vector<model::Question>& questions) { return ask_plugins(questions); });
    wiring_.advisor = advisor_.get();
    MUSTER_TRY_ASSIGN(link_,
                      rpc::LinkServer::start({.address = options_.agent_listen,
                                              .insecure = options_.insecure,
                                              .welcome = {.term = term, .controller_id = instance}},
                                             inlet_));
    wiring_.link = link_.get();
    MUSTER_TRY_ASSIGN(controller_,
                      Controller::start(controller_options(options_, instance, packs_.schema),
                                        *store_, term, wiring_));
    logs_ = std::make_unique<LogBroker>(
        *controller_, [this](core::SessionId session, const rpc::LogRequest& request) {
          link_->request_log(session, request);
        });
    if (packs_.schema) plans_ = std::make_unique<PlanMaker>(*controller_, *plugins_, packs_);
    inlet_.open(*controller_, *logs_);
    api_ = make_api({.controller = *controller_,
                     .events = *events_,
                     .logs = *logs_,
                     .metrics = *metrics_,
                     .authorizer = authorizer_,
                     .version = options_.version,
                     .instance_id = instance,
                     .term = term,
                     .started_at = os::system_now(),
                     .clock = os::system_now,
                     .plans = plans_.get(),
                     .schema = packs_.schema,
                     .temp_dir = options_.data_dir});
    MUSTER_TRY_ASSIGN(http_, http::Server::start(http_options(), make_handler(*api_, *metrics_)));
    log::info("ready", {{"version", options_.version},
                        {"term", term},
                        {"socket", socket_path()},
                        {"http_port", http_->tcp_port()},
                        {"agent_port", link_->port()}});
    return {};
  }

  Controller& controller() { return *controller_; }

  void stop() {
    log::info("stopping", {});
    // First what requests wait for, so that each gets its answer.
    if (plans_) plans_->stop();
    if (advisor_) advisor_->stop();
    if (http_) http_->stop(Duration::seconds(5));
    if (!controller_) inlet_.shut();
    if (link_) link_->stop();
    if (jobs_) jobs_->stop();
    if (controller_) controller_->stop();
    api_.reset();
    http_.reset();
  }

 private:
  // Not yet running: each is started when it is first needed.
  void start_plugins() {
    std::vector<plugin::Program> programs;
    for (const pack::LoadedPack& each : packs_.packs) {
      if (each.program.empty()) continue;
      programs.push_back({each.name, each.version, each.program, each.folder});
    }
    plugin::HostOptions host;
    host.session.muster_version = options_.version;
    host.session.sdk = pack::python_sdk_folder().value_or("");
    plugins_ = std::make_unique<plugin::PluginHost>(std::move(programs), packs_.schema, host);
  }

  Result<model::Answers> ask_plugins(const std::vector<model::Question>& questions) {
    MUSTER_TRY_ASSIGN(const auto snapshot, take_snapshot(*controller_, packs_.schema));
    auto answered = plugins_->check(snapshot, questions);
    if (!answered.good()) return fail(plugin::to_error(answered.failures));
    return std::move(answered.value);
  }

  std::string socket_path() const {
    return options_.socket.empty() ? default_socket(options_.data_dir) : options_.socket;
  }

  Result<void> check_socket_group() const {
    if (options_.socket_group.empty() || !stands_in(socket_path(), options_.data_dir)) return {};
    return fail(
        ErrorCode::InvalidValue,
        "the group '{}' could not reach the socket '{}', since only its owner may enter the "
        "data directory; put it elsewhere with --socket PATH",
        options_.socket_group, socket_path());
  }

  http::ServerOptions http_options() const {
    http::ServerOptions result;
    result.unix_path = socket_path();
    result.unix_mode = options_.socket_mode;
    result.unix_group = options_.socket_group;
    result.tcp_address = options_.listen;
    result.insecure = options_.insecure;
    result.threads = options_.http_threads;
    result.body_max = kModelBodyBytesMax;
    return result;
  }

  const ServerOptions& options_;
  LocalAuthorizer authorizer_;
  LinkInlet inlet_;
  std::unique_ptr<plugin::PluginHost> plugins_;
  pack::LoadedPacks packs_;  // outlives the controller, whose model points into its types
  Wiring wiring_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<EventHub> events_;
  std::unique_ptr<JobPool> jobs_;
  std::unique_ptr<ModelAdvisor> advisor_;
  std::unique_ptr<rpc::LinkServer> link_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<PlanMaker> plans_;
  std::unique_ptr<LogBroker> logs_;
  std::unique_ptr<http::Router> api_;
  std::unique_ptr<http::Server> http_;
};

}  // namespace

std::string default_socket(const std::string& data_dir) {
  const bool is_default = std::filesystem::path(data_dir + "/").lexically_normal() ==
                          std::filesystem::path(std::string(kDefaultDataDir) + "/");
  return is_default ? std::string(kRunSocket) : data_dir + "/muster.sock";
}

int run_server(const ServerOptions& options) {
  // Blocked before any thread starts, so that every thread inherits it and sigwait gets them all.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  const auto level = log::parse_level(options.log_level);
  if (!level) return refuse_to_start(level.error());
  const auto format = log::parse_format(options.log_format);
  if (!format) return refuse_to_start(format.error());
  log::init({.level = *level, .format = *format});
  constexpr int kUsage = 64;  // as the command line answers for what it finds itself
  if (const auto checked = check_addresses(options); !checked) {
    (void)refuse_to_start(checked.error());
    return kUsage;
  }
  ServerProcess server(options);
  if (auto started = server.start(); !started) {
    server.stop();
    return refuse_to_start(started.error());
  }
  std::mutex mutex;
  std::optional<Error> fatal;
  server.controller().on_fatal([&](const Error& error) {
    {
      const std::lock_guard lock(mutex);
      fatal = error;
    }
    ::kill(::getpid(), SIGUSR1);
  });
  os::notify_supervisor("READY=1");
  int signal = 0;
  sigwait(&signals, &signal);
  os::notify_supervisor("STOPPING=1");
  server.stop();
  const std::lock_guard lock(mutex);
  if (fatal) {
    log::error("the controller cannot go on", {{"problem", fatal->message}});
    return 1;
  }
  return 0;
}

}  // namespace muster::controller
