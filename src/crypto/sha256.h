#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace muster::crypto {

// SHA-256 of bytes that come in pieces. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  // Of all so far, in lower-case hex; more may follow.
  std::string hex() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace muster::crypto
