#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/declaration.h"
#include "plugin/host.h"

namespace muster::plugin {

// The contract test kit: what every plugin, in whatever language, is held to.

enum class KitVerdict : std::uint8_t { Passed, Failed, Skipped };

struct KitResult {
  std::string name;
  KitVerdict verdict = KitVerdict::Passed;
  std::string detail;  // why; of a passed one what there is to know
};

struct KitModelFile {
  std::string name;
  model::Declaration declaration;
};

struct KitRequest {
  std::vector<Program> programs;  // of all packs that are loaded
  std::string pack;               // whose plugin is tested
  model::SchemaPtr schema;
  std::vector<KitModelFile> models;  // besides the empty one and a sample
  HostOptions options;
};

// Runs everything, one after the other; `each` is told as it is known. Blocks for as long as the
// plugin takes, but for each call at most as long as the options say.
std::vector<KitResult> run_kit(const KitRequest& request,
                               const std::function<void(const KitResult&)>& each = {});

}  // namespace muster::plugin
