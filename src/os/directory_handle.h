#pragma once

#include <dirent.h>

#include <memory>

namespace muster::os {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using DirectoryHandle = std::unique_ptr<DIR, DirectoryCloser>;

}  // namespace muster::os
