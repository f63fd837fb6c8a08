#include "bench/scratch.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace muster::bench {
namespace {

// The path of a socket in it must fit a sockaddr_un.
constexpr std::size_t kParentBytesMax = 60;

}  // namespace

Result<Scratch> Scratch::make(const PlaceOptions& options, const Host& host) {
  std::error_code error;
  const std::filesystem::path parent = options.parent.empty()
                                           ? std::filesystem::temp_directory_path(error)
                                           : std::filesystem::absolute(options.parent, error);
  if (error) {
    return fail(ErrorCode::IoError, "no directory for temporary files: {}", error.message());
  }
  if (parent.string().size() > kParentBytesMax) {
    return fail(ErrorCode::InvalidValue,
                "the directory '{}' has {} characters, at most {} are allowed, because sockets are "
                "made below it",
                parent.string(), parent.string().size(), kParentBytesMax);
  }
  std::string path = (parent / "muster-bench-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::IoError, "cannot make a directory in '{}': {}", parent.string(),
                std::strerror(errno));
  }
  if (options.keep) host.say(fmt::format("the directory {} is kept\n", path));
  return Scratch(std::move(path), options.keep);
}

Scratch::Scratch(Scratch&& other) noexcept
    : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}

Scratch::~Scratch() {
  if (path_.empty() || keep_) return;
  // A runner of an action may still be writing its last file while its directory goes.
  constexpr int kTries = 3;
  std::error_code error;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(path_, error);
    if (!error) return;
  }
}

}  // namespace muster::bench
