#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace muster::exec {

struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;
};

// By name, or by number where no such name exists. NotFound.
Result<Account> find_user(const std::string& name);
Result<gid_t> find_group(const std::string& name);

}  // namespace muster::exec
