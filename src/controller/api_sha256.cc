#include "controller/api_sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace muster::controller {

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  MUSTER_CHECK(context_->md != nullptr, "no memory for a digest");
  MUSTER_CHECK(EVP_DigestInit_ex(context_->md, EVP_sha256(), nullptr) == 1, "no SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  MUSTER_CHECK(EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()) == 1,
               "SHA-256 of {} bytes failed", bytes.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  MUSTER_CHECK(EVP_DigestFinal_ex(context_->md, digest.data(), nullptr) == 1, "SHA-256 failed");
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

}  // namespace muster::controller
