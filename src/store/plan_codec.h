#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/effects.h"
#include "core/plan/plan_record.h"
#include "store/store.h"

// Between plans and the bytes of the store (record.proto), under the same rules as record_codec.h.
// The body of a plan is one message that is cut into parts, because it may have many megabytes.

namespace muster::store {

inline constexpr std::size_t kPlanPartBytes = std::size_t{1} << 20;

std::string encode(const core::PlanRecord& plan);
Result<core::PlanRecordPtr> decode_plan_record(std::string_view bytes);

std::string encode_body(const core::PlanBody& body);
Result<core::PlanBody> decode_body(std::string_view bytes);

void append_plan(Batch& batch, const core::PutPlan& write);
void append_plan(Batch& batch, const core::DropPlan& write);

// Any thread. Nothing: it is not there (any more).
Result<std::optional<core::PlanBody>> read_body(Store& store, const core::PlanRecord& plan);

}  // namespace muster::store
