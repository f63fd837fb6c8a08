#include "crypto/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"
#include "base/hex.h"

namespace muster::crypto {

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();

  Context() { MUSTER_CHECK(md != nullptr, "no memory for a digest"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  MUSTER_CHECK(EVP_DigestInit_ex(context_->md, EVP_sha256(), nullptr) == 1, "no SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  MUSTER_CHECK(EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()) == 1,
               "SHA-256 of {} bytes failed", bytes.size());
}

std::string Sha256::hex() const {
  const Context copy;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  MUSTER_CHECK(EVP_MD_CTX_copy_ex(copy.md, context_->md) == 1 &&
                   EVP_DigestFinal_ex(copy.md, digest.data(), &size) == 1,
               "SHA-256 failed");
  return to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

}  // namespace muster::crypto
