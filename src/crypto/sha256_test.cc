#include "crypto/sha256.h"

#include <gtest/gtest.h>

namespace muster::crypto {
namespace {

// The examples of FIPS 180-4.
constexpr std::string_view kOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, IsTheStandards) {
  EXPECT_EQ(sha256_hex(""), kOfNothing);
  EXPECT_EQ(sha256_hex("abc"), kOfAbc);
}

TEST(Sha256, TellsWhatItHasSoFarAndGoesOn) {
  Sha256 digest;
  EXPECT_EQ(digest.hex(), kOfNothing);
  digest.update("a");
  EXPECT_EQ(digest.hex(), sha256_hex("a"));
  digest.update("bc");
  EXPECT_EQ(digest.hex(), kOfAbc);
  EXPECT_EQ(digest.hex(), kOfAbc);
}

}  // namespace
}  // namespace muster::crypto
