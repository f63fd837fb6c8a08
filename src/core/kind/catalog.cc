#include "core/kind/catalog.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/kind/field_reader.h"
#include "core/kind/inputs.h"

namespace muster::core {
namespace {

using InputsCheck = void (*)(const Json& inputs, std::string_view pointer,
                             std::vector<FieldError>& errors);

struct CatalogEntry {
  KindInfo info;
  InputsCheck check;
};

void check_none(const Json& inputs, std::string_view pointer, std::vector<FieldError>& errors) {
  FieldReader(inputs, pointer, errors).finish();
}

// A decoder whose result is not needed.
template <auto decode>
void check_with(const Json& inputs, std::string_view pointer, std::vector<FieldError>& errors) {
  static_cast<void>(decode(inputs, pointer, errors));
}

constexpr std::array kCatalog = {
    CatalogEntry{{.name = "noop",
                  .summary = "does nothing and succeeds",
                  .on_engine = true,
                  .on_agent = true,
                  .resumable = true,
                  .suspendable = false},
                 check_none},
    CatalogEntry{{.name = "sleep",
                  .summary = "waits for a given time, then succeeds",
                  .on_engine = true,
                  .on_agent = true,
                  .resumable = true,
                  .suspendable = true},
                 check_with<decode_sleep>},
    CatalogEntry{{.name = "fail",
                  .summary = "ends with a given result other than OK, for rehearsals",
                  .on_engine = true,
                  .on_agent = true,
                  .resumable = true,
                  .suspendable = false},
                 check_with<decode_fail>},
    // Whether a call may be repeated depends on its method, so that the catalogue cannot promise
    // it.
    CatalogEntry{{.name = "http",
                  .summary = "calls a URL and judges the status of the answer",
                  .on_engine = true,
                  .on_agent = false,
                  .resumable = false,
                  .suspendable = false},
                 check_with<decode_http>},
    CatalogEntry{{.name = "exec",
                  .summary = "runs a program or a script",
                  .on_engine = false,
                  .on_agent = true},
                 check_with<decode_exec>},
    CatalogEntry{{.name = "file.put",
                  .summary = "writes a file with given content",
                  .on_engine = false,
                  .on_agent = true},
                 check_with<decode_file_put>},
    CatalogEntry{{.name = "file.fetch",
                  .summary = "downloads a file and checks its sha256",
                  .on_engine = false,
                  .on_agent = true},
                 check_with<decode_file_fetch>},
    CatalogEntry{{.name = "service",
                  .summary = "starts, stops, restarts, reloads or inspects a systemd unit",
                  .on_engine = false,
                  .on_agent = true},
                 check_with<decode_service>},
    CatalogEntry{{.name = "facts",
                  .summary = "reports what the host is",
                  .on_engine = false,
                  .on_agent = true},
                 check_none},
};

const CatalogEntry* find_entry(std::string_view kind) {
  const auto found = std::ranges::find_if(
      kCatalog, [&](const CatalogEntry& entry) { return entry.info.name == kind; });
  return found == kCatalog.end() ? nullptr : &*found;
}

}  // namespace

std::vector<KindInfo> KindCatalog::all() {
  std::vector<KindInfo> infos;
  infos.reserve(kCatalog.size());
  for (const CatalogEntry& entry : kCatalog) infos.push_back(entry.info);
  return infos;
}

const KindInfo* KindCatalog::find(std::string_view kind) {
  const CatalogEntry* entry = find_entry(kind);
  return entry == nullptr ? nullptr : &entry->info;
}

std::vector<FieldError> KindCatalog::check_inputs(std::string_view kind, const Json& inputs,
                                                  std::string_view pointer) {
  std::vector<FieldError> errors;
  if (const CatalogEntry* entry = find_entry(kind)) entry->check(inputs, pointer, errors);
  return errors;
}

}  // namespace muster::core
