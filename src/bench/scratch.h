#pragma once

#include <string>

#include "base/result.h"
#include "bench/benchmarks.h"

namespace muster::bench {

// A new directory that goes with the object. With `keep` it stays, and its path is told.
class Scratch {
 public:
  static Result<Scratch> make(const PlaceOptions& options, const Host& host);
  Scratch(Scratch&& other) noexcept;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

 private:
  Scratch(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}

  std::string path_;
  bool keep_;
};

}  // namespace muster::bench
