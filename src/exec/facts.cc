#include "exec/facts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "exec/fd.h"

namespace muster::exec {
namespace {

constexpr std::size_t kAddressesMax = 64;
constexpr std::size_t kOsReleaseBytesMax = std::size_t{64} << 10;

std::string unquote(std::string value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.front() == value.back()) {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

void read_os_release(core::AgentFacts& facts) {
  auto text = read_file_at(AT_FDCWD, "/etc/os-release", kOsReleaseBytesMax);
  if (!text) text = read_file_at(AT_FDCWD, "/usr/lib/os-release", kOsReleaseBytesMax);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ID=")) facts.os = unquote(line.substr(3));
    if (line.starts_with("VERSION_ID=")) facts.os_version = unquote(line.substr(11));
  }
}

// Of interfaces that are up, without loopback and link-local ones, which mean nothing elsewhere.
std::vector<std::string> read_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0 ||
        (entry->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = nullptr;
    const int family = entry->ifa_addr->sa_family;
    if (family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    } else if (family == AF_INET6) {
      const auto& six = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&six)) continue;
      address = &six;
    } else {
      continue;
    }
    if (::inet_ntop(family, address, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses.size() > kAddressesMax) addresses.resize(kAddressesMax);
  return addresses;
}

}  // namespace

core::AgentFacts gather_facts(const std::string& version) {
  core::AgentFacts facts;
  facts.version = version;
  read_os_release(facts);
  utsname host{};
  if (::uname(&host) == 0) {
    facts.arch = host.machine;
    facts.kernel = host.release;
    facts.hostname = host.nodename;
  }
  facts.addresses = read_addresses();
  return facts;
}

ChildReport run_facts(const std::string& version) {
  const core::AgentFacts facts = gather_facts(version);
  ChildReport report;
  report.outputs = {
      {"os", facts.os},
      {"os_version", facts.os_version},
      {"arch", facts.arch},
      {"kernel", facts.kernel},
      {"hostname", facts.hostname},
      {"addresses", facts.addresses},
      {"version", facts.version},
      {"cpus", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"memory_bytes", static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE))},
      {"boot_id", read_boot_id()},
  };
  return report;
}

}  // namespace muster::exec
