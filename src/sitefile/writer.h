#pragma once

#include <string>

#include "model/declaration.h"

namespace muster::sitefile {

// A model file that declares the same: what is read back equals what was written. A value that
// looks like a placeholder is read back as one. REQUIRES: values are UTF-8 without NUL, names are
// such as packs allow.
std::string write_yaml(const model::Declaration& declaration);
std::string write_json(const model::Declaration& declaration);

}  // namespace muster::sitefile
