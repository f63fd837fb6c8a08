#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// The truth. A store keeps records (opaque bytes under a key), an index over the records of
// actions, and the event log. It knows nothing of the engine: whoever writes encodes
// (record_codec.h), so a backend needs no more than atomic batches, ordered reads and a fencing
// term, which SQLite and etcd both have. No SQL or other query language leaves a backend.
//
// Threading: commit() is called from one thread at a time; every read may be called from any thread
// at any time, and sees all batches whose commit() has returned.

namespace muster::store {

// Grows by one whenever a writer opens the store; a writer with an older term is refused (Fenced),
// so that a controller that was replaced cannot write.
using Term = std::uint64_t;

enum class Space : std::uint8_t {
  Action,        // key: 16-byte UUID
  Agent,         // key: name
  Idempotency,   // key: identity and key
  Journal,       // an agent's own records
  Meta,          // settings of whoever owns the store
  Item,          // key: path in the model; whatever is above an item sorts before it
  Revision,      // key: number of the model's revision, so that the newest sorts first
  RevisionPart,  // key: number of the revision, number of the part
  Plan,          // key: number of the plan, so that the newest sorts first
  PlanPart,      // key: number of the plan, number of the part
};

// What actions are listed, sorted and looked up by.
struct ActionIndex {
  std::uint64_t seq = 0;
  bool live = true;
  std::string name;
  std::string target;
  std::string action;
  std::string status;
  Timestamp created_at;
  Timestamp updated_at;
  Timestamp finished_at;  // unset while live

  bool operator==(const ActionIndex&) const = default;
};

struct RecordWrite {
  Space space = Space::Meta;
  std::string key;
  std::optional<std::string> value;  // none: delete
  std::optional<ActionIndex> index;  // with Space::Action, always
};

struct EventRow {
  std::uint64_t seq = 0;
  Timestamp at;
  std::string value;
};

struct Batch {
  Term term = 0;
  std::vector<RecordWrite> records;  // applied in order
  std::vector<EventRow> events;      // ascending

  bool empty() const { return records.empty() && events.empty(); }
};

struct Record {
  std::string key;
  std::string value;
  std::uint64_t seq = 0;  // of an action that query_actions found, from its index
};

struct RecordPage {
  std::vector<Record> records;
  bool more = false;
};

enum class SortKey : std::uint8_t {
  Seq,
  Name,
  Target,
  Action,
  Status,
  CreatedAt,
  UpdatedAt,
  FinishedAt
};

struct SortTerm {
  SortKey key = SortKey::Seq;
  bool descending = false;

  bool operator==(const SortTerm&) const = default;
};

// Values within a field are alternatives; fields must all match. Empty: no constraint.
struct ActionFilter {
  std::vector<std::string> names;
  std::vector<std::string> targets;
  std::vector<std::string> actions;
  std::vector<std::string> statuses;
  std::optional<bool> live;
};

struct ActionQuery {
  ActionFilter filter;
  std::vector<SortTerm> sort;  // ties go by seq, in the direction of the last term
  std::string marker;          // 16-byte id of the last action already seen; empty: from the start
  std::size_t limit = 50;
};

struct EventPage {
  std::vector<EventRow> events;
  std::uint64_t first_kept = 0;  // the oldest event that the store still has; 0: none
  std::uint64_t last = 0;        // the newest; 0: none
};

// Finished actions beyond either bound go, oldest first; so do events, but never the newest one.
struct Retention {
  Duration age_max = Duration::days(30);
  std::uint64_t count_max = 1'000'000;
  std::uint64_t events_max = 1'000'000;
};

struct StoreStats {
  std::uint64_t actions_live = 0;
  std::uint64_t actions_finished = 0;
  std::uint64_t events = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t bytes = 0;  // on disk
};

struct QuarantineEntry {
  Space space = Space::Meta;
  std::string key;
  std::string value;
  std::string problem;
  Timestamp at;
};

class Store {
 public:
  virtual ~Store() = default;

  // Takes the store over: every other writer is fenced from now on.
  virtual Result<Term> acquire_term() = 0;

  // Applies the whole batch or nothing, and returns when it is durable. Errors:
  //  StoreUnavailable  nothing was applied (full disk, I/O error); the same batch may be tried
  //  again Fenced            another writer took over; give up Unavailable       the outcome is
  //  unknown; the same batch may be tried again, applying it twice
  //                    is harmless
  virtual Result<void> commit(const Batch& batch) = 0;

  // Records of a space in key order, after `after_key` (exclusive; empty: from the start). For
  // Space::Action only live ones, in seq order.
  virtual Result<RecordPage> load(Space space, std::string_view after_key, std::size_t limit) = 0;
  // Live or finished.
  virtual Result<std::optional<std::string>> get(Space space, std::string_view key) = 0;

  virtual Result<std::vector<Record>> query_actions(const ActionQuery& query) = 0;
  // Actions with this name, newest first, at most `limit`.
  virtual Result<std::vector<Record>> find_actions_by_name(std::string_view name,
                                                           std::size_t limit) = 0;
  // Actions whose UUID text starts with `prefix` (hex digits and dashes), at most `limit`.
  virtual Result<std::vector<Record>> find_actions_by_prefix(std::string_view prefix,
                                                             std::size_t limit) = 0;

  // Events with seq > after, at most `limit`.
  virtual Result<EventPage> events(std::uint64_t after, std::size_t limit) = 0;

  // Removes at most `limit` expired finished actions and events; answers how many it removed.
  // Called between commits, by the thread that commits.
  virtual Result<std::size_t> purge(const Retention& retention, Timestamp now,
                                    std::size_t limit) = 0;

  // Moves a record that cannot be decoded out of the way, keeping its bytes and the reason.
  virtual Result<void> quarantine(Space space, std::string_view key, std::string_view problem,
                                  Timestamp now) = 0;
  virtual Result<std::vector<QuarantineEntry>> quarantined(std::size_t limit) = 0;

  virtual Result<StoreStats> stats() = 0;
  // A trivial durable write; tells whether commits would succeed now.
  virtual Result<void> probe() = 0;
  // An online, consistent copy into a file that must not exist yet.
  virtual Result<void> backup(const std::string& path) = 0;
};

}  // namespace muster::store
