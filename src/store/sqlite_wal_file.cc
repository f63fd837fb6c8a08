#include "store/sqlite_wal_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>

namespace muster::store {
namespace {

constexpr const char* kName = "muster";
// A transaction that is larger goes to the file in parts.
constexpr std::size_t kGatheredMax = std::size_t{4} << 20;
// What the underlying system is given in one call: as much as the largest page that SQLite knows.
// It does not take more than 128 KiB.
constexpr std::size_t kPieceMax = std::size_t{64} << 10;
// Room that is kept between commits.
constexpr std::size_t kKeptMax = std::size_t{256} << 10;

sqlite3_vfs* base_file_system() {
  static sqlite3_vfs* const base = sqlite3_vfs_find(nullptr);
  return base;
}

// What SQLite is given as the file of a log. The file of the underlying system lies behind it, in
// memory that SQLite owns.
struct WalFile {
  sqlite3_file head;
  std::string* gathered;
  sqlite3_int64 offset;  // of what is gathered
};

constexpr std::size_t kBaseOffset =
    (sizeof(WalFile) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);

WalFile& self(sqlite3_file* file) { return *reinterpret_cast<WalFile*>(file); }

sqlite3_file* base_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kBaseOffset);
}

// After a failure SQLite gives up the transaction, so what was gathered is of no use any more.
int flush(sqlite3_file* file) {
  WalFile& wal = self(file);
  if (wal.gathered->empty()) return SQLITE_OK;
  sqlite3_file* base = base_of(file);
  int result = SQLITE_OK;
  for (std::size_t begin = 0; begin < wal.gathered->size() && result == SQLITE_OK;) {
    const std::size_t size = std::min(kPieceMax, wal.gathered->size() - begin);
    result = base->pMethods->xWrite(base, wal.gathered->data() + begin, static_cast<int>(size),
                                    wal.offset + static_cast<sqlite3_int64>(begin));
    begin += size;
  }
  wal.gathered->clear();
  if (wal.gathered->capacity() > kKeptMax) wal.gathered->shrink_to_fit();
  return result;
}

int write_wal(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  WalFile& wal = self(file);
  const auto gathered = static_cast<sqlite3_int64>(wal.gathered->size());
  if (gathered > 0 && (offset != wal.offset + gathered || wal.gathered->size() >= kGatheredMax)) {
    if (const int result = flush(file); result != SQLITE_OK) return result;
  }
  if (wal.gathered->empty()) wal.offset = offset;
  try {
    wal.gathered->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return SQLITE_IOERR_NOMEM;
  }
  return SQLITE_OK;
}

int close_wal(sqlite3_file* file) {
  const int flushed = flush(file);
  delete self(file).gathered;
  sqlite3_file* base = base_of(file);
  const int closed = base->pMethods->xClose(base);
  return flushed != SQLITE_OK ? flushed : closed;
}

// Calls the same method of the underlying file, once it has all that was written.
template <auto method, typename... Arguments>
int pass(sqlite3_file* file, Arguments... arguments) {
  if (const int result = flush(file); result != SQLITE_OK) return result;
  sqlite3_file* base = base_of(file);
  return (base->pMethods->*method)(base, arguments...);
}

// The same for what does not look at the content.
template <auto method, typename... Arguments>
int pass_by(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* base = base_of(file);
  return (base->pMethods->*method)(base, arguments...);
}

constexpr sqlite3_io_methods kWalMethods = {
    .iVersion = 1,
    .xClose = close_wal,
    .xRead = pass<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write_wal,
    .xTruncate = pass<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = pass<&sqlite3_io_methods::xSync, int>,
    .xFileSize = pass<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = pass_by<&sqlite3_io_methods::xLock, int>,
    .xUnlock = pass_by<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = pass_by<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = pass_by<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = pass_by<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = pass_by<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* /*ours*/, const char* name, sqlite3_file* file, int flags,
              int* out_flags) {
  sqlite3_vfs* base = base_file_system();
  if ((flags & SQLITE_OPEN_WAL) == 0) return base->xOpen(base, name, file, flags, out_flags);
  file->pMethods = nullptr;
  auto gathered = std::unique_ptr<std::string>(new (std::nothrow) std::string());
  if (!gathered) return SQLITE_NOMEM;
  const int result = base->xOpen(base, name, base_of(file), flags, out_flags);
  if (result != SQLITE_OK) return result;
  self(file) = WalFile{{&kWalMethods}, gathered.release(), 0};
  return SQLITE_OK;
}

bool register_file_system() {
  // SQLite's books about its own memory are not read by anybody, and take a lock for each piece.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (base_file_system() == nullptr) return false;
  // All else is the underlying system's, which finds its own data here.
  static sqlite3_vfs ours = *base_file_system();
  ours.zName = kName;
  ours.pNext = nullptr;
  ours.szOsFile += static_cast<int>(kBaseOffset);
  ours.xOpen = open_file;
  return sqlite3_vfs_register(&ours, 0) == SQLITE_OK;
}

}  // namespace

const char* gathering_file_system() {
  static const bool registered = register_file_system();
  return registered ? kName : nullptr;
}

}  // namespace muster::store
