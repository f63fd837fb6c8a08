#pragma once

#include <cstdint>
#include <string>

#include "core/input.h"
#include "model/schema.h"
#include "sim/random.h"

namespace muster::sim {

// The types of the simulated model: folders of things with a value, and things that inherit from
// them.
model::SchemaPtr sim_schema();

// Draws edits of the model. It does not know what the model has become, so that some of what it
// asks for is refused.
class ModelMaker {
 public:
  explicit ModelMaker(Random random) : random_(random) {}

  core::EditModel make_edit(const std::string& who);
  // The model is known to have had this revision.
  void remember(std::uint64_t revision) { newest_ = std::max(newest_, revision); }

 private:
  model::Path folder();
  std::string id();
  model::GivenProperties values();
  model::Operation operation();
  model::Declaration declaration();

  Random random_;
  std::uint64_t newest_ = 1;
  std::uint64_t last_value_ = 0;
};

}  // namespace muster::sim
