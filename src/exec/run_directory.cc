#include "exec/run_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>

#include "os/directory_handle.h"

namespace muster::exec {
namespace {

constexpr std::size_t kUuidText = 36;
constexpr const char* kRunFile = "run";
constexpr std::size_t kRunBytesMax = (std::size_t{4} << 20) + 4096;
constexpr int kListenBacklog = 8;

os::DirectoryHandle open_listing(int parent, const char* name) {
  UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return nullptr;
  DIR* directory = ::fdopendir(fd.get());
  if (directory != nullptr) fd.release();
  return os::DirectoryHandle(directory);
}

// In the abstract namespace: the name follows a zero byte and ends with the address.
socklen_t control_address(const std::string& name, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

std::optional<ucred> peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

// All of the line or nothing of it.
Result<void> append_line(int run, std::string_view line) {
  const off_t end = ::lseek(run, 0, SEEK_END);
  if (end >= 0 && write_all(run, line)) return {};
  const int error = errno;
  if (end >= 0) static_cast<void>(::ftruncate(run, end));
  return fail(ErrorCode::IoError, "cannot write the file of a run: {}", errno_text(error));
}

// All files but `kept`, where one is given.
bool remove_files(int directory, const char* kept) {
  const os::DirectoryHandle listing = open_listing(directory, ".");
  if (!listing) return false;
  bool all = true;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || (kept != nullptr && name == kept)) continue;
    if (::unlinkat(directory, entry->d_name, 0) != 0) all = false;
  }
  return all;
}

void remove_tree(int runs, const std::string& name) {
  const UniqueFd directory(::openat(runs, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return;
  remove_files(directory.get(), nullptr);
  ::unlinkat(runs, name.c_str(), AT_REMOVEDIR);
}

struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

std::string RunKey::name() const { return fmt::format("{}.{}", id.to_string(), attempt); }

std::optional<RunKey> RunKey::parse(std::string_view name) {
  if (name.size() < kUuidText + 2 || name[kUuidText] != '.') return std::nullopt;
  const auto id = core::ActionId::parse(name.substr(0, kUuidText));
  if (!id) return std::nullopt;
  RunKey key{*id, 0};
  const char* end = name.data() + name.size();
  const auto number = std::from_chars(name.data() + kUuidText + 1, end, key.attempt);
  if (number.ec != std::errc() || number.ptr != end || key.attempt == 0) return std::nullopt;
  return key;
}

Result<RunDirectory> RunDirectory::create(int runs, const RunKey& key, const std::string& spare) {
  const std::string name = key.name();
  const bool renamed =
      !spare.empty() && ::renameat2(runs, spare.c_str(), runs, name.c_str(), RENAME_NOREPLACE) == 0;
  if (!renamed && ::mkdirat(runs, name.c_str(), 0700) != 0) {
    if (errno == EEXIST) {
      return fail(ErrorCode::Conflict, "attempt {} of action {} was started before", key.attempt,
                  key.id.to_string());
    }
    return fail(ErrorCode::IoError, "cannot make the run directory '{}': {}", name,
                errno_text(errno));
  }
  UniqueFd fd(::openat(runs, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    return fail(ErrorCode::IoError, "cannot open the run directory '{}': {}", name,
                errno_text(errno));
  }
  return RunDirectory(std::move(fd));
}

std::optional<RunDirectory> RunDirectory::open(int runs, const RunKey& key) {
  UniqueFd fd(::openat(runs, key.name().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  return RunDirectory(std::move(fd));
}

std::vector<RunKey> RunDirectory::list(int runs) {
  std::vector<RunKey> keys;
  const os::DirectoryHandle directory = open_listing(runs, ".");
  if (!directory) return keys;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (auto key = RunKey::parse(entry->d_name)) keys.push_back(*key);
  }
  return keys;
}

void RunDirectory::remove(int runs, const RunKey& key) { remove_tree(runs, key.name()); }

bool RunDirectory::retire(int runs, const RunKey& key, const std::string& spare) {
  const auto directory = open(runs, key);
  // A runner that has said its last word may hold the lock for another moment.
  if (!directory || directory->is_locked()) return false;
  // Before it gets its new name: whoever takes a spare must find nothing in it.
  const UniqueFd run(::openat(directory->fd(), kRunFile, O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!run.valid() || !remove_files(directory->fd(), kRunFile)) return false;
  return ::renameat2(runs, key.name().c_str(), runs, spare.c_str(), RENAME_NOREPLACE) == 0;
}

void RunDirectory::remove_spare(int runs, const std::string& spare) { remove_tree(runs, spare); }

bool RunDirectory::is_of(int runs, const RunKey& key) const {
  struct stat mine{};
  struct stat named{};
  return ::fstat(fd(), &mine) == 0 && ::fstatat(runs, key.name().c_str(), &named, 0) == 0 &&
         mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

Result<void> RunDirectory::take_lock(const ProcessRecord& runner) {
  UniqueFd run(::openat(fd(), kRunFile, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!run.valid()) {
    return fail(ErrorCode::IoError, "cannot create the file of a run: {}", errno_text(errno));
  }
  struct flock whole = whole_file(F_WRLCK);
  if (::fcntl(run.get(), F_OFD_SETLK, &whole) != 0) {
    return fail(ErrorCode::IoError, "cannot lock a run: {}", errno_text(errno));
  }
  // A spare that lost its name in a power cut may have its old facts again.
  if (::ftruncate(run.get(), 0) != 0) {
    return fail(ErrorCode::IoError, "cannot empty the file of a run: {}", errno_text(errno));
  }
  MUSTER_TRY(append_line(run.get(), runner_line(runner)));
  run_ = std::move(run);
  return {};
}

bool RunDirectory::is_locked() const {
  const UniqueFd run(::openat(fd(), kRunFile, O_RDWR | O_CLOEXEC));
  if (!run.valid()) return false;
  // Asks without taking, so that looking can never make a runner fail to lock.
  struct flock whole = whole_file(F_WRLCK);
  return ::fcntl(run.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

std::string RunDirectory::read_run() const {
  return read_file_at(fd(), kRunFile, kRunBytesMax).value_or(std::string());
}

std::optional<ProcessRecord> RunDirectory::runner() const { return find_runner(read_run()); }

Result<void> RunDirectory::record_child(const ProcessRecord& child) const {
  return append_line(run_.get(), child_line(child));
}

std::optional<ProcessRecord> RunDirectory::child() const { return find_child(read_run()); }

Result<UniqueFd> RunDirectory::listen() const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // An address without a name asks the kernel for one that is free.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t size = sizeof address;
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)) != 0 ||
      ::listen(socket.get(), kListenBacklog) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return fail(ErrorCode::IoError, "cannot listen for agents: {}", errno_text(errno));
  }
  const std::string_view name(address.sun_path + 1, size - offsetof(sockaddr_un, sun_path) - 1);
  MUSTER_TRY(append_line(run_.get(), control_line(name)));
  return socket;
}

Result<UniqueFd> RunDirectory::connect() const {
  const std::string text = read_run();
  const auto runner = find_runner(text);
  const auto name = find_control(text);
  if (!runner || !name) {
    return fail(ErrorCode::Unavailable, "the runner left no word of where to reach it");
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  const socklen_t size = control_address(*name, address);
  if (!socket.valid() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    return fail(ErrorCode::Unavailable, "cannot reach the runner: {}", errno_text(errno));
  }
  // After its death anybody may have got the name.
  const auto peer = peer_of(socket.get());
  if (!peer || peer->pid != runner->pid) {
    return fail(ErrorCode::Unavailable, "process {} has the socket of the runner {}",
                peer ? peer->pid : 0, runner->pid);
  }
  return socket;
}

Result<void> RunDirectory::write_result(const RunResult& result) const {
  if (run_.valid()) return append_line(run_.get(), result_line(result));
  const UniqueFd run(::openat(fd(), kRunFile, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!run.valid()) {
    return fail(ErrorCode::IoError, "cannot open the file of a run: {}", errno_text(errno));
  }
  // The runner may have died in the middle of a line.
  const std::string text = read_run();
  const std::size_t lines = text.rfind('\n') + 1;
  if (lines < text.size() && ::ftruncate(run.get(), static_cast<off_t>(lines)) != 0) {
    return fail(ErrorCode::IoError, "cannot mend the file of a run: {}", errno_text(errno));
  }
  return append_line(run.get(), result_line(result));
}

std::optional<RunResult> RunDirectory::read_result() const { return find_result(read_run()); }

bool RunDirectory::has_result() const { return read_result().has_value(); }

bool is_trusted_peer(int socket) {
  const auto peer = peer_of(socket);
  return peer && (peer->uid == ::geteuid() || peer->uid == 0);
}

}  // namespace muster::exec
