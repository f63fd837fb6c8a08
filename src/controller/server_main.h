#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::controller {

inline constexpr std::string_view kDefaultDataDir = "/var/lib/muster";

// Where the API's socket is unless told: /run/muster/muster.sock, where clients look, for the
// default data directory; in the data directory for any other, so that several controllers can live
// on one host.
std::string default_socket(const std::string& data_dir);

// Everything that `muster server` can be told.
struct ServerOptions {
  std::string data_dir = std::string(kDefaultDataDir);
  std::string socket;  // empty: default_socket()
  unsigned socket_mode = 0660;
  std::string socket_group;               // empty: the group of the process
  std::string listen = "127.0.0.1:8440";  // empty: no TCP
  std::string agent_listen = "127.0.0.1:8441";
  bool insecure = false;
  Duration retention_age = Duration::days(30);
  std::uint64_t retention_count = 1'000'000;
  std::uint64_t retention_events = 1'000'000;
  Duration default_timeout = Duration::seconds(3600);
  Duration default_queue_timeout = Duration::days(1);
  std::size_t workers = 32;
  std::size_t http_threads = 2;
  std::string packs;                     // folder of packs; empty: those that came with the program
  std::string core_pack;                 // folder of the core pack; empty: the one in `packs`
  std::vector<std::string> extra_packs;  // folders, each a pack
  std::size_t model_revisions = 1000;    // kept
  std::string log_level = "info";
  std::string log_format = "text";
  std::string version;
};

// Runs a controller until SIGTERM or SIGINT. The answer is the exit code of the process. What is
// wrong at the start (a locked or damaged store, an address in use) is printed with what to do.
int run_server(const ServerOptions& options);

}  // namespace muster::controller
