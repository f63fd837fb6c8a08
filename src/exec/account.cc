#include "exec/account.h"

#include "base/number.h"

#include <grp.h>
#include <pwd.h>

#include <optional>
#include <vector>

namespace muster::exec {
namespace {

constexpr std::size_t kEntryBytes = std::size_t{64} << 10;

}  // namespace

Result<Account> find_user(const std::string& name) {
  std::vector<char> buffer(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (const auto number = whole_number<unsigned>(name); found == nullptr && number) {
    ::getpwuid_r(*number, &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return Account{name, *number, *number, "/", "/bin/sh"};
  }
  if (found == nullptr) return fail(ErrorCode::NotFound, "no user '{}' on this host", name);
  return Account{found->pw_name, found->pw_uid, found->pw_gid, found->pw_dir, found->pw_shell};
}

Result<gid_t> find_group(const std::string& name) {
  std::vector<char> buffer(kEntryBytes);
  group entry{};
  group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr) return found->gr_gid;
  if (const auto number = whole_number<unsigned>(name)) return static_cast<gid_t>(*number);
  return fail(ErrorCode::NotFound, "no group '{}' on this host", name);
}

}  // namespace muster::exec
