#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/action/action.h"
#include "core/agent/agent_io.h"
#include "core/agent/journal_entry.h"
#include "core/effects.h"
#include "core/event.h"
#include "core/fleet/agent.h"
#include "store/store.h"

// Between the values of the core and the bytes of the store (record.proto). Every field comes back
// as it went in. All functions are pure and may be called from any thread; encoding reuses one
// message per thread, because it is done tens of thousands of times per second.
//
// Decoding trusts nothing: an unknown format version, bytes that are no message, an enum or number
// out of range and an id that has not 16 bytes are DecodeFailed, with what is wrong. Whoever loads
// then quarantines the record.

namespace muster::store {

inline constexpr std::uint8_t kRecordFormat = 1;

std::string encode(const core::Action& action);
std::string encode(const core::Agent& agent);
std::string encode(const core::Event& event);
std::string encode(const core::PutIdempotency& idempotency);
std::string encode(const core::JournalEntry& entry);

Result<core::ActionPtr> decode_action(std::string_view bytes);
Result<core::AgentPtr> decode_agent(std::string_view bytes);
Result<core::Event> decode_event(std::string_view bytes);
Result<core::PutIdempotency> decode_idempotency(std::string_view bytes);
Result<core::JournalEntryPtr> decode_journal_entry(std::string_view bytes);

// What the store lists and finds the action by. A final action counts as finished since it took
// that status.
ActionIndex index_of(const core::Action& action);

// Adds what the write means to the batch. A journal entry is kept under its 16-byte id.
void append(Batch& batch, const core::Write& write);
void append(Batch& batch, const core::agent::JournalWrite& write);

}  // namespace muster::store
