#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/model_codec.h"
#include "store/plan_codec.h"
#include "store/record_codec.h"

// Whatever stands in the store, decoding ends in a value or an error; and what was accepted is
// written and read again without a change. The first byte picks the kind of record.

namespace muster::store {
namespace {

const core::Action& value_of(const core::ActionPtr& action) { return *action; }
const core::Agent& value_of(const core::AgentPtr& agent) { return *agent; }
const core::JournalEntry& value_of(const core::JournalEntryPtr& entry) { return *entry; }
const core::Event& value_of(const core::Event& event) { return event; }
const core::PutIdempotency& value_of(const core::PutIdempotency& put) { return put; }
const core::PlanRecord& value_of(const core::PlanRecordPtr& plan) { return *plan; }
const RevisionHead& value_of(const RevisionHead& head) { return head; }
const model::PackVersions& value_of(const model::PackVersions& versions) { return versions; }

template <typename Decode>
void check(Decode decode, std::string_view bytes) {
  const auto first = decode(bytes);
  if (!first) {
    MUSTER_CHECK(first.error().code == ErrorCode::DecodeFailed, "refused as {}",
                 first.error().message);
    return;
  }
  const std::string written = encode(value_of(*first));
  const auto second = decode(written);
  MUSTER_CHECK(second.has_value(), "an accepted record does not decode again: {}",
               second.error().message);
  MUSTER_CHECK(encode(value_of(*second)) == written, "an accepted record changes");
}

// What it stands for needs types, which a store does not have.
template <typename Decode>
void check_decoding(Decode decode, std::string_view bytes) {
  const auto first = decode(bytes);
  MUSTER_CHECK(first || first.error().code == ErrorCode::DecodeFailed, "refused as {}",
               first.error().message);
}

void check_body(std::string_view bytes) {
  const auto first = decode_body(bytes);
  if (!first) return;
  const std::string written = encode_body(*first);
  const auto second = decode_body(written);
  MUSTER_CHECK(second.has_value(), "an accepted plan does not decode again: {}",
               second.error().message);
  MUSTER_CHECK(encode_body(*second) == written, "an accepted plan changes");
}

}  // namespace
}  // namespace muster::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::store;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'a':
      check(decode_action, bytes);
      break;
    case 'g':
      check(decode_agent, bytes);
      break;
    case 'e':
      check(decode_event, bytes);
      break;
    case 'i':
      check(decode_idempotency, bytes);
      break;
    case 'j':
      check(decode_journal_entry, bytes);
      break;
    case 'm':
      check_decoding(decode_item, bytes);
      break;
    case 'r':
      check(decode_revision, bytes);
      break;
    case 'R':
      check_decoding(decode_part, bytes);
      break;
    case 'v':
      check(decode_packs, bytes);
      break;
    case 'p':
      check(decode_plan_record, bytes);
      break;
    case 'P':
      check_body(bytes);
      break;
    default:
      break;
  }
  return 0;
}
