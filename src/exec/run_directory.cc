#include "exec/run_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "base/json.h"

namespace muster::exec {
namespace {

constexpr std::size_t kUuidText = 36;
constexpr std::size_t kRecordBytesMax = 256;
constexpr std::size_t kResultBytesMax = std::size_t{4} << 20;
constexpr int kListenBacklog = 8;

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using DirectoryHandle = std::unique_ptr<DIR, DirectoryCloser>;

DirectoryHandle open_listing(int parent, const char* name) {
  UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return nullptr;
  DIR* directory = ::fdopendir(fd.get());
  if (directory != nullptr) fd.release();
  return DirectoryHandle(directory);
}

std::optional<ProcessRecord> read_record(int directory, const char* name) {
  const auto text = read_file_at(directory, name, kRecordBytesMax);
  return text ? decode_process_record(*text) : std::nullopt;
}

// A number and the space behind it.
template <typename T>
bool take_number(std::string_view& text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop == end || *stop != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return true;
}

sockaddr_un control_address(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto end = fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1,
                                    "/proc/self/fd/{}/ctl", directory);
  *end.out = '\0';
  return address;
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

Result<RunDirectory> RunDirectory::create(int runs, const RunKey& key) {
  const std::string name = key.name();
  if (::mkdirat(runs, name.c_str(), 0700) != 0) {
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
  const DirectoryHandle directory = open_listing(runs, ".");
  if (!directory) return keys;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (auto key = RunKey::parse(entry->d_name)) keys.push_back(*key);
  }
  return keys;
}

void RunDirectory::remove(int runs, const RunKey& key) {
  const std::string name = key.name();
  if (const DirectoryHandle directory = open_listing(runs, name.c_str())) {
    while (const dirent* entry = ::readdir(directory.get())) {
      ::unlinkat(::dirfd(directory.get()), entry->d_name, 0);
    }
  }
  ::unlinkat(runs, name.c_str(), AT_REMOVEDIR);
}

Result<void> RunDirectory::take_lock(const ProcessRecord& runner) {
  UniqueFd lock(::openat(fd(), "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) {
    return fail(ErrorCode::IoError, "cannot create the lock of a run: {}", errno_text(errno));
  }
  struct flock whole = whole_file(F_WRLCK);
  if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) {
    return fail(ErrorCode::IoError, "cannot lock a run: {}", errno_text(errno));
  }
  if (!write_all(lock.get(), encode_process_record(runner))) {
    return fail(ErrorCode::IoError, "cannot write the lock of a run: {}", errno_text(errno));
  }
  lock_ = std::move(lock);
  return {};
}

bool RunDirectory::is_locked() const {
  const UniqueFd lock(::openat(fd(), "lock", O_RDWR | O_CLOEXEC));
  if (!lock.valid()) return false;
  // Asks without taking, so that looking can never make a runner fail to lock.
  struct flock whole = whole_file(F_WRLCK);
  return ::fcntl(lock.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

std::optional<ProcessRecord> RunDirectory::runner() const { return read_record(fd(), "lock"); }

Result<void> RunDirectory::record_child(const ProcessRecord& child) const {
  const UniqueFd file(::openat(fd(), "child", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid() || !write_all(file.get(), encode_process_record(child))) {
    return fail(ErrorCode::IoError, "cannot record the process of a run: {}", errno_text(errno));
  }
  return {};
}

std::optional<ProcessRecord> RunDirectory::child() const { return read_record(fd(), "child"); }

Result<UniqueFd> RunDirectory::listen() const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = control_address(fd());
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kListenBacklog) != 0) {
    return fail(ErrorCode::IoError, "cannot listen in the run directory: {}", errno_text(errno));
  }
  return socket;
}

Result<UniqueFd> RunDirectory::connect() const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = control_address(fd());
  if (!socket.valid() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(ErrorCode::Unavailable, "cannot reach the runner: {}", errno_text(errno));
  }
  return socket;
}

Result<void> RunDirectory::write_result(const RunResult& result) const {
  return write_file_atomic_at(fd(), "result", encode_result(result));
}

std::optional<RunResult> RunDirectory::read_result() const {
  const auto text = read_file_at(fd(), "result", kResultBytesMax);
  if (!text) return std::nullopt;
  return decode_result(*text);
}

bool RunDirectory::has_result() const { return ::faccessat(fd(), "result", F_OK, 0) == 0; }

std::string encode_process_record(const ProcessRecord& record) {
  return fmt::format("{} {} {}\n", record.pid, record.start_time, record.boot_id);
}

std::optional<ProcessRecord> decode_process_record(std::string_view text) {
  // A file that was cut off has no last newline.
  if (text.empty() || text.back() != '\n') return std::nullopt;
  const std::string_view whole = text;
  text.remove_suffix(1);
  ProcessRecord record;
  if (!take_number(text, record.pid) || !take_number(text, record.start_time) || record.pid <= 1 ||
      text.find_first_of(" \n") != std::string_view::npos) {
    return std::nullopt;
  }
  record.boot_id = text;
  // Only what is written here is a record: no sign, no leading zero.
  if (encode_process_record(record) != whole) return std::nullopt;
  return record;
}

std::string encode_result(const RunResult& result) {
  // The outputs are JSON text already.
  return fmt::format(R"({{"outputs":{},"reason":{},"result":"{}"}})", result.outputs,
                     dump_json(Json(result.reason)), core::name(result.result));
}

std::optional<RunResult> decode_result(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  const auto result = json->find("result");
  const auto reason = json->find("reason");
  const auto outputs = json->find("outputs");
  if (result == json->end() || !result->is_string() || reason == json->end() ||
      !reason->is_string() || outputs == json->end() || !outputs->is_object()) {
    return std::nullopt;
  }
  const auto parsed = core::parse_execute_result(result->get_ref<const std::string&>());
  if (!parsed) return std::nullopt;
  return RunResult{*parsed, reason->get<std::string>(), dump_json(*outputs)};
}

}  // namespace muster::exec
