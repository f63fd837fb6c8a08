#include "exec/file_put.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "core/kind/base64.h"
#include "crypto/sha256.h"
#include "exec/placed_file.h"

namespace muster::exec {
namespace {

Result<void> write_new(const core::FilePutInputs& inputs, const std::string& content,
                       const FileAttributes& attributes) {
  std::string temporary = parent_of(inputs.path) + "/.muster-put-XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return fail(ErrorCode::IoError, "cannot create a file in '{}': {}", parent_of(inputs.path),
                errno_text(errno));
  }
  Result<void> done;
  if (!write_all(fd.get(), content)) {
    done = fail(ErrorCode::IoError, "cannot write '{}': {}", temporary, errno_text(errno));
  } else if (auto applied = apply_attributes(fd.get(), attributes, temporary); !applied) {
    done = fail(std::move(applied.error()));
  } else {
    done = put_in_place(fd.get(), temporary, inputs.path);
  }
  if (!done) ::unlink(temporary.c_str());
  return done;
}

// Answers whether anything had to be changed.
Result<bool> ensure_file(const core::FilePutInputs& inputs, const std::string& content,
                         const std::string& sha256) {
  MUSTER_TRY_ASSIGN(const FileAttributes attributes,
                    read_attributes(inputs.mode, inputs.owner, inputs.group));
  MUSTER_TRY_ASSIGN(const UniqueFd existing, open_existing(inputs.path));
  if (existing.valid()) {
    MUSTER_TRY_ASSIGN(const std::string present, sha256_of_file(existing.get(), inputs.path));
    if (present == sha256) return apply_attributes(existing.get(), attributes, inputs.path);
  } else if (inputs.create_parents) {
    MUSTER_TRY(make_directories(parent_of(inputs.path), 0755));
  }
  MUSTER_TRY(write_new(inputs, content, attributes));
  return true;
}

}  // namespace

ChildReport put_file(const core::FilePutInputs& inputs) {
  std::string content = inputs.content;
  if (!inputs.content_base64.empty()) {
    auto decoded = core::decode_base64(inputs.content_base64);
    if (!decoded) return ChildReport::error("content_base64 is not base64");
    content = std::move(*decoded);
  }
  const std::string sha256 = crypto::sha256_hex(content);
  const auto changed = ensure_file(inputs, content, sha256);
  if (!changed) return ChildReport::error(changed.error().message);
  ChildReport report;
  report.outputs = {{"sha256", sha256}, {"bytes", content.size()}, {"changed", *changed}};
  return report;
}

}  // namespace muster::exec
