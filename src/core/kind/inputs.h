#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"

// The inputs of each shipped kind as plain values, decoded from the action's JSON in one place for
// the controller, which refuses bad ones when an action is created, and the executors.

namespace muster::core {

struct SleepInputs {
  Duration duration;
};

struct FailInputs {
  std::string reason = "asked to fail";
  std::string result = "ERROR";  // an ExecuteResult other than OK
};

struct HttpInputs {
  std::string url;  // http or https
  std::string method = "GET";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::vector<int> expect_status;  // empty: any 2xx
  std::vector<int> retry_status;   // answered with RETRY
  Duration timeout = Duration::seconds(30);
};

struct ExecInputs {
  // Exactly one of the two.
  std::vector<std::string> argv;
  std::string script;
  std::string interpreter = "/bin/sh";  // of a script
  std::map<std::string, std::string> env;
  bool clear_env = false;
  std::string cwd;
  std::string user;
  std::string stdin_text;
  std::uint64_t output_limit = 1 << 20;  // bytes kept
  std::uint64_t memory_limit = 0;        // bytes; 0: none
  std::vector<int> success_codes = {0};
  std::vector<int> retry_codes;            // answered with RETRY
  Duration grace = Duration::seconds(10);  // between TERM and KILL
};

struct FilePutInputs {
  std::string path;
  std::string content;  // text, or
  std::string content_base64;
  std::string mode = "0644";  // octal
  std::string owner;
  std::string group;
  bool create_parents = false;
};

struct FileFetchInputs {
  std::string url;  // http, https or file
  std::string path;
  std::string sha256;  // lower-case hex; required
  std::string mode = "0644";
  std::string owner;
  std::string group;
  bool create_parents = false;
};

struct ServiceInputs {
  std::string unit;
  std::string verb;  // start, stop, restart, reload, status
};

// Each decoder appends all that is wrong to `errors`, with pointers below `pointer`, and answers
// with as much as it could read.
SleepInputs decode_sleep(const Json& inputs, std::string_view pointer,
                         std::vector<FieldError>& errors);
FailInputs decode_fail(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors);
HttpInputs decode_http(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors);
ExecInputs decode_exec(const Json& inputs, std::string_view pointer,
                       std::vector<FieldError>& errors);
FilePutInputs decode_file_put(const Json& inputs, std::string_view pointer,
                              std::vector<FieldError>& errors);
FileFetchInputs decode_file_fetch(const Json& inputs, std::string_view pointer,
                                  std::vector<FieldError>& errors);
ServiceInputs decode_service(const Json& inputs, std::string_view pointer,
                             std::vector<FieldError>& errors);

}  // namespace muster::core
