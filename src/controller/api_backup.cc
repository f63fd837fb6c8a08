#include "controller/api_backup.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "crypto/sha256.h"

namespace muster::controller {
namespace {

constexpr std::size_t kChunk = 256 << 10;
constexpr std::size_t kInFlightMax = std::size_t{1} << 20;
constexpr auto kRoomPoll = std::chrono::milliseconds(5);
constexpr auto kStallMax = std::chrono::seconds(60);

// Deletes the file at the end, whatever happens in between.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& directory) {
    static std::atomic<std::uint64_t> count = 0;
    path_ = fmt::format("{}/.backup-{}-{}.tmp", directory, getpid(), count++);
    remove();  // left by a process that had the same number and died
  }
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::string path_;
};

Result<BackupSender::Ready> measure(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  crypto::Sha256 digest;
  BackupSender::Ready ready;
  std::array<char, 64 << 10> buffer;
  while (file) {
    file.read(buffer.data(), buffer.size());
    const auto size = static_cast<std::size_t>(file.gcount());
    digest.update({buffer.data(), size});
    ready.bytes += size;
  }
  if (!file.eof()) return fail(ErrorCode::IoError, "the backup file '{}' cannot be read", path);
  ready.sha256 = digest.hex();
  return ready;
}

}  // namespace

BackupSender::BackupSender(store::Store& store, std::string directory)
    : store_(store), directory_(std::move(directory)) {}

BackupSender::~BackupSender() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> BackupSender::start(Open open, Failed failed) {
  const std::lock_guard lock(mutex_);
  if (busy_ || stopping_) {
    return fail(ErrorCode::Overloaded, "a backup is being sent already, try again when it is done");
  }
  if (thread_.joinable()) thread_.join();  // it has ended, or is about to
  busy_ = true;
  thread_ = std::thread([this, open = std::move(open), failed = std::move(failed)] {
    run(open, failed);
    const std::lock_guard done(mutex_);
    busy_ = false;
  });
  return {};
}

void BackupSender::run(const Open& open, const Failed& failed) {
  const TemporaryFile file(directory_);
  if (const Result<void> copied = store_.backup(file.path()); !copied) {
    failed(copied.error());
    return;
  }
  const Result<Ready> ready = measure(file.path());
  if (!ready) {
    failed(ready.error());
    return;
  }
  const std::shared_ptr<http::Stream> stream = open(*ready);
  send_file(file.path(), *stream);
  stream->close();
}

bool BackupSender::send_file(const std::string& path, http::Stream& stream) {
  std::ifstream file(path, std::ios::binary);
  while (file) {
    std::string chunk(kChunk, '\0');
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    chunk.resize(static_cast<std::size_t>(file.gcount()));
    if (chunk.empty()) break;
    if (!wait_for_room(stream) || !stream.write(std::move(chunk))) return false;
  }
  return file.eof();
}

bool BackupSender::wait_for_room(http::Stream& stream) {
  std::size_t least = stream.queued();
  auto progress_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_ && stream.open()) {
    const std::size_t queued = stream.queued();
    if (queued < kInFlightMax) return true;
    const auto now = std::chrono::steady_clock::now();
    if (queued < least) {
      least = queued;
      progress_at = now;
    }
    if (now - progress_at > kStallMax) return false;
    wake_.wait_for(lock, kRoomPoll);
  }
  return false;
}

}  // namespace muster::controller
