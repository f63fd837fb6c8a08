#include "exec/file_fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "crypto/sha256.h"
#include "exec/download.h"
#include "exec/placed_file.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;

// Interruptions within one attempt, each after some progress.
constexpr int kResumesMax = 20;

struct FetchFailure {
  ExecuteResult result = ExecuteResult::Error;
  std::string reason;
};

// One download into the partial file, with the checksum of what is in it.
class PartialFile {
 public:
  explicit PartialFile(std::string path) : path_(std::move(path)) {}

  // Takes over what an earlier attempt left.
  Result<void> open() {
    fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd_.valid()) {
      return fail(ErrorCode::IoError, "cannot create '{}': {}", path_, errno_text(errno));
    }
    sum_ = std::make_unique<crypto::Sha256>();
    std::string buffer(std::size_t{64} << 10, '\0');
    for (;;) {
      const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail(ErrorCode::IoError, "cannot read '{}': {}", path_, errno_text(errno));
      if (n == 0) break;
      sum_->update({buffer.data(), static_cast<std::size_t>(n)});
      bytes_ += static_cast<std::uint64_t>(n);
    }
    resumed_from_ = bytes_;
    return {};
  }

  Result<void> restart() {
    if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0) {
      return fail(ErrorCode::IoError, "cannot empty '{}': {}", path_, errno_text(errno));
    }
    sum_ = std::make_unique<crypto::Sha256>();
    bytes_ = 0;
    resumed_from_ = 0;
    return {};
  }

  bool append(std::string_view data) {
    if (!write_all(fd_.get(), data)) {
      write_error_ = errno;
      return false;
    }
    sum_->update(data);
    bytes_ += data.size();
    return true;
  }

  std::string sum() const { return sum_->hex(); }
  void discard() { ::unlink(path_.c_str()); }

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  // How much of it came from an earlier attempt.
  std::uint64_t resumed_from() const { return resumed_from_; }
  std::string write_failure() const {
    return fmt::format("cannot write '{}': {}", path_, errno_text(write_error_));
  }

 private:
  const std::string path_;
  UniqueFd fd_;
  std::unique_ptr<crypto::Sha256> sum_;
  std::uint64_t bytes_ = 0;
  std::uint64_t resumed_from_ = 0;
  int write_error_ = 0;
};

// Downloads the rest, resuming as often as each interruption came after some progress.
std::optional<FetchFailure> download_rest(const std::string& url, PartialFile& part) {
  for (int resumes = 0;; ++resumes) {
    const std::uint64_t before = part.bytes();
    const DownloadResult got =
        download(url, before, [&part](std::string_view data) { return part.append(data); });
    switch (got.end) {
      case DownloadEnd::Complete:
        return std::nullopt;
      case DownloadEnd::Interrupted:
        if (part.bytes() > before && resumes < kResumesMax) continue;
        return FetchFailure{ExecuteResult::Retry, got.reason};
      case DownloadEnd::CannotResume:
        if (before > 0 && resumes < kResumesMax) {
          if (auto restarted = part.restart(); !restarted) {
            return FetchFailure{ExecuteResult::Error, restarted.error().message};
          }
          continue;
        }
        return FetchFailure{ExecuteResult::Error, got.reason};
      case DownloadEnd::Refused:
        return FetchFailure{ExecuteResult::Error, got.reason};
      case DownloadEnd::SinkFailed:
        return FetchFailure{ExecuteResult::Error, part.write_failure()};
    }
  }
}

// Leaves a verified file in `part`.
std::optional<FetchFailure> fetch_verified(const core::FileFetchInputs& inputs, PartialFile& part) {
  // What is there may be all of it: the last attempt can have ended between download and rename.
  if (part.bytes() > 0 && part.sum() == inputs.sha256) return std::nullopt;
  for (;;) {
    if (auto failure = download_rest(inputs.url, part)) return failure;
    const std::string sum = part.sum();
    if (sum == inputs.sha256) return std::nullopt;
    if (part.resumed_from() == 0) {
      part.discard();
      return FetchFailure{
          ExecuteResult::Error,
          fmt::format("'{}' has the sha256 {}, expected is {}", inputs.url, sum, inputs.sha256)};
    }
    // The beginning came from an earlier attempt and may be of another file: once more, all of it.
    if (auto restarted = part.restart(); !restarted) {
      return FetchFailure{ExecuteResult::Error, restarted.error().message};
    }
  }
}

ChildReport report_of(const core::FileFetchInputs& inputs, std::uint64_t bytes, bool changed,
                      std::uint64_t resumed_from) {
  ChildReport report;
  report.outputs = {{"sha256", inputs.sha256},
                    {"bytes", bytes},
                    {"changed", changed},
                    {"resumed_from", resumed_from}};
  return report;
}

// The report, if the file at the path already has the checksum.
Result<std::optional<ChildReport>> check_present(const core::FileFetchInputs& inputs,
                                                 const FileAttributes& attributes) {
  MUSTER_TRY_ASSIGN(const UniqueFd existing, open_existing(inputs.path));
  if (!existing.valid()) return std::nullopt;
  MUSTER_TRY_ASSIGN(const std::string present, sha256_of_file(existing.get(), inputs.path));
  if (present != inputs.sha256) return std::nullopt;
  MUSTER_TRY_ASSIGN(const bool changed, apply_attributes(existing.get(), attributes, inputs.path));
  struct stat status{};
  ::fstat(existing.get(), &status);
  return report_of(inputs, static_cast<std::uint64_t>(status.st_size), changed, 0);
}

}  // namespace

std::string partial_path(const core::FileFetchInputs& inputs) {
  return inputs.path + ".muster-part-" + inputs.sha256;
}

ChildReport fetch_file(const core::FileFetchInputs& inputs) {
  const auto attributes = read_attributes(inputs.mode, inputs.owner, inputs.group);
  if (!attributes) return ChildReport::error(attributes.error().message);
  const auto present = check_present(inputs, *attributes);
  if (!present) return ChildReport::error(present.error().message);
  if (*present) return **present;
  if (inputs.create_parents) {
    if (auto made = make_directories(parent_of(inputs.path), 0755); !made) {
      return ChildReport::error(made.error().message);
    }
  }
  PartialFile part(partial_path(inputs));
  if (auto opened = part.open(); !opened) return ChildReport::error(opened.error().message);
  if (auto failure = fetch_verified(inputs, part)) {
    ChildReport report{failure->result, failure->reason};
    report.outputs = {{"bytes", part.bytes()}, {"resumed_from", part.resumed_from()}};
    return report;
  }
  if (auto applied = apply_attributes(part.fd(), *attributes, part.path()); !applied) {
    return ChildReport::error(applied.error().message);
  }
  if (auto placed = put_in_place(part.fd(), part.path(), inputs.path); !placed) {
    return ChildReport::error(placed.error().message);
  }
  return report_of(inputs, part.bytes(), true, part.resumed_from());
}

}  // namespace muster::exec
