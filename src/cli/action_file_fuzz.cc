#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/inputs.h"
#include "cli/submit.h"
#include "cli/yaml.h"

// Files of actions, in JSON or YAML, and inputs from the command line: any text ends in a value or
// in an error that says something, and what was understood is shown as YAML that means the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto body = cli::body_from_text(text)) {
    MUSTER_CHECK(body->is_object(), "a body that is no object");
    MUSTER_CHECK(body->contains("action") || body->contains("actions"), "a body of no action");
    const std::string shown = cli::dump_yaml(*body);
    const auto again = cli::parse_yaml(shown);
    MUSTER_CHECK(again.has_value(), "{} for\n{}", again.error().message, shown);
    MUSTER_CHECK(dump_json(*again) == dump_json(*body), "{} became\n{}", dump_json(*body), shown);
  }
  Json inputs = Json::object();
  if (const auto applied = cli::apply_input(inputs, text); !applied) {
    MUSTER_CHECK(!applied.error().message.empty(), "an error without a message");
  } else {
    MUSTER_CHECK(inputs.size() == 1, "one input made {}", inputs.size());
  }
  return 0;
}
