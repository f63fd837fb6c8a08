#include "cli/backup.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "cli/text.h"
#include "crypto/sha256.h"
#include "os/clock.h"
#include "store/restore.h"

namespace muster::cli {
namespace {

tl::unexpected<Failure> io_failure(std::string_view what, const std::string& path) {
  return fail(Failure(
      Error{ErrorCode::IoError, fmt::format("cannot {} '{}': {}", what, path, strerror(errno))}));
}

// The file while it is incomplete; removed again unless it was published.
class PartFile {
 public:
  static Outcome<std::unique_ptr<PartFile>> create(const std::string& path) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return io_failure("create", path);
    auto file = std::unique_ptr<PartFile>(new PartFile(fd, path));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      file->keep_ = true;  // it belongs to the other process
      return fail(Failure(Error{ErrorCode::Conflict,
                                fmt::format("another backup is being written to '{}'", path)}));
    }
    if (ftruncate(fd, 0) != 0) return io_failure("write", path);
    return file;
  }
  ~PartFile() {
    close(fd_);
    if (!keep_) unlink(path_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  Outcome<void> publish(const std::string& name, bool replace) {
    if (fsync(fd_) != 0) return io_failure("write", path_);
    const unsigned int flags = replace ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), flags) != 0) {
      return io_failure("create", name);
    }
    keep_ = true;
    const std::size_t slash = name.rfind('/');
    const std::string directory = slash == std::string::npos ? "."
                                  : slash == 0               ? "/"
                                                             : name.substr(0, slash);
    const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return io_failure("open", directory);
    const int synced = fsync(fd);
    close(fd);
    if (synced != 0) return io_failure("write", directory);
    return {};
  }

 private:
  PartFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  bool keep_ = false;
};

Failure broken_backup(std::string message) {
  return Failure(Error{ErrorCode::IoError, std::move(message)});
}

}  // namespace

Outcome<ExitCode> backup(Context& context, ApiClient& client, const BackupOptions& options) {
  struct stat info{};
  if (!options.force && lstat(options.file.c_str(), &info) == 0) {
    return usage("'{}' exists; name another file, or replace it with --force", options.file);
  }
  MUSTER_TRY_ASSIGN(const std::unique_ptr<PartFile> part, PartFile::create(options.file + ".part"));
  crypto::Sha256 digest;
  std::uint64_t size = 0;
  std::optional<Failure> broken;
  StreamRequest request;
  request.path = "/v1/backup";
  request.timeout = Duration::hours(6);
  request.on_data = [&](std::string_view bytes) {
    digest.update(bytes);
    size += bytes.size();
    if (part->write(bytes)) return true;
    broken =
        broken_backup(fmt::format("cannot write '{}.part': {}", options.file, strerror(errno)));
    return false;
  };
  Outcome<http::ClientResponse> response = client.stream(request);
  if (broken) return fail(std::move(*broken));
  if (!response) return fail(std::move(response.error()));
  const std::string length = response->header("content-length");
  if (!length.empty() && length != std::to_string(size)) {
    return fail(
        broken_backup(fmt::format("the backup broke off: {} bytes came of {}", size, length)));
  }
  const std::string expected = response->header("x-muster-sha256");
  const std::string actual = digest.hex();
  if (expected != actual) {
    return fail(broken_backup(
        fmt::format("the backup is damaged: SHA-256 is {}, but the controller announced {}", actual,
                    expected.empty() ? "none" : printable(expected))));
  }
  MUSTER_TRY(part->publish(options.file, options.force));
  if (wants_document(context)) {
    print_document(context, {{"file", options.file}, {"bytes", size}, {"sha256", actual}});
  } else {
    context.console.out(options.file + "\n");
  }
  context.console.say(fmt::format("{} bytes, SHA-256 {}\n", size, actual));
  return ExitCode::Ok;
}

Outcome<ExitCode> restore(Context& context, const RestoreOptions& options) {
  const std::string store_path = options.data_dir + "/muster.db";
  // A new machine has no data directory yet; one that is made here stays private.
  if (mkdir(options.data_dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return io_failure("create", options.data_dir);
  }
  MUSTER_TRY(store::restore_store(options.file, store_path, os::system_now()));
  if (wants_document(context)) {
    print_document(context, {{"file", options.file}, {"store", store_path}});
  }
  context.console.say(fmt::format("restored '{}' to '{}'\n", options.file, store_path));
  return ExitCode::Ok;
}

}  // namespace muster::cli
