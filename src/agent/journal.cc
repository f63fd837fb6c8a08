#include "agent/journal.h"

#include "base/number.h"
#include "base/uuid.h"
#include "log/log.h"
#include "store/record_codec.h"

namespace muster::agent {
namespace {

constexpr std::string_view kJournalIdKey = "journal_id";
constexpr std::string_view kControllerTermKey = "controller_term";
constexpr std::size_t kLoadPage = 1000;

store::RecordWrite setting(std::string_view key, std::string value) {
  return {store::Space::Meta, std::string(key), std::move(value), std::nullopt};
}

// What the codec accepts can still be something that no agent writes.
Result<core::JournalEntryPtr> decode(const store::Record& record) {
  MUSTER_TRY_ASSIGN(auto entry, store::decode_journal_entry(record.value));
  if (entry->id.bytes() != record.key) {
    return fail(ErrorCode::DecodeFailed, "the entry is of action {}, its key is of another one",
                entry->id.to_string());
  }
  if (entry->status == core::Status::Lost ||
      (!entry->is_final() && !core::is_on_agent(entry->status))) {
    return fail(ErrorCode::DecodeFailed, "an entry cannot have the status {}",
                core::name(entry->status));
  }
  return entry;
}

std::string key_text(const std::string& key) {
  return key.size() == Uuid::kSize ? Uuid::from_bytes(key).to_string() : "?";
}

}  // namespace

Result<Journal> Journal::open(store::Store& store, Timestamp now,
                              const std::function<std::uint64_t()>& random) {
  MUSTER_TRY_ASSIGN(const store::Term term, store.acquire_term());
  Journal journal(store, term);
  MUSTER_TRY(journal.load_settings(random));
  MUSTER_TRY(journal.load_entries(now));
  return journal;
}

Result<void> Journal::load_settings(const std::function<std::uint64_t()>& random) {
  MUSTER_TRY_ASSIGN(auto id, store_->get(store::Space::Meta, kJournalIdKey));
  if (id && Uuid::parse(*id)) {
    id_ = *id;
  } else {
    if (id) log::error("journal id cannot be read; a new one is made", {{"value", *id}});
    const std::uint64_t high = random();
    id_ = Uuid::v4(high, random()).to_string();
    MUSTER_TRY(store_->commit(store::Batch{term_, {setting(kJournalIdKey, id_)}, {}}));
  }
  MUSTER_TRY_ASSIGN(auto term, store_->get(store::Space::Meta, kControllerTermKey));
  if (term) {
    const auto number = whole_number<std::uint64_t>(*term);
    if (!number) log::error("controller term cannot be read; taken as 0", {{"value", *term}});
    controller_term_ = number.value_or(0);
  }
  return {};
}

Result<void> Journal::load_entries(Timestamp now) {
  std::string after;
  bool more = true;
  while (more) {
    MUSTER_TRY_ASSIGN(auto page, store_->load(store::Space::Journal, after, kLoadPage));
    more = page.more && !page.records.empty();
    for (const auto& record : page.records) {
      after = record.key;
      auto entry = decode(record);
      if (entry) {
        entries_.push_back(*std::move(entry));
        continue;
      }
      ++quarantined_;
      log::error("journal entry cannot be read; set aside",
                 {{"action", key_text(record.key)}, {"problem", entry.error().message}});
      const auto moved =
          store_->quarantine(store::Space::Journal, record.key, entry.error().message, now);
      if (!moved) {
        log::error("journal entry could not be set aside",
                   {{"action", key_text(record.key)}, {"problem", moved.error().message}});
      }
    }
  }
  return {};
}

Result<void> Journal::commit(const std::vector<core::agent::JournalWrite>& writes,
                             std::optional<std::uint64_t> controller_term) {
  store::Batch batch;
  batch.term = term_;
  batch.records.reserve(writes.size() + 1);
  for (const auto& write : writes) store::append(batch, write);
  const bool newer = controller_term && *controller_term > controller_term_;
  if (newer) {
    batch.records.push_back(setting(kControllerTermKey, std::to_string(*controller_term)));
  }
  if (batch.empty()) return {};
  MUSTER_TRY(store_->commit(batch));
  if (newer) controller_term_ = *controller_term;
  return {};
}

}  // namespace muster::agent
