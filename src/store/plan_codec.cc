#include "store/plan_codec.h"

#include <limits>
#include <utility>

#include "record.pb.h"
#include "store/model_codec.h"
#include "store/record_decoder.h"

namespace muster::store {
namespace {

namespace wire = record::v1;

static_assert(static_cast<int>(core::PlanState::Invalid) + 1 == wire::PLAN_STATE_INVALID);

std::size_t parts_of(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kPlanPartBytes - 1) / kPlanPartBytes);
}

}  // namespace

std::string encode(const core::PlanRecord& plan) {
  wire::PlanRecord message;
  message.set_number(plan.number);
  message.set_revision(plan.revision);
  message.set_state(static_cast<wire::PlanState>(static_cast<int>(plan.state) + 1));
  message.set_state_reason(plan.state_reason);
  message.set_state_since(plan.state_since.us);
  message.set_created_at(plan.created_at.us);
  message.set_who(plan.who);
  message.set_why(plan.why);
  message.set_model_revision(plan.model_revision);
  message.set_digest(plan.digest);
  message.set_body_bytes(plan.body_bytes);
  wire::PlanSummary& summary = *message.mutable_summary();
  summary.set_add(plan.summary.add);
  summary.set_change(plan.summary.change);
  summary.set_remove(plan.summary.remove);
  summary.set_tasks(plan.summary.tasks);
  summary.set_phases(plan.summary.phases);
  summary.set_nodes(plan.summary.nodes);
  summary.set_clusters(plan.summary.clusters);
  summary.set_parallel(plan.summary.parallel);
  summary.set_left_out(plan.summary.left_out);
  std::string bytes(1, static_cast<char>(kRecordFormat));
  message.AppendToString(&bytes);
  return bytes;
}

Result<core::PlanRecordPtr> decode_plan_record(std::string_view bytes) {
  Decoder decoder("plan");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::PlanRecord>(bytes));
  core::PlanRecord plan;
  plan.number = decoder.sequence(message.number(), "number");
  plan.revision = message.revision();
  plan.state = decoder.enumeration(message.state(), core::PlanState::Invalid, "state");
  plan.state_reason = std::move(*message.mutable_state_reason());
  plan.state_since = Timestamp{message.state_since()};
  plan.created_at = Timestamp{message.created_at()};
  plan.who = std::move(*message.mutable_who());
  plan.why = std::move(*message.mutable_why());
  plan.model_revision = message.model_revision();
  plan.digest = std::move(*message.mutable_digest());
  plan.body_bytes = decoder.sequence(message.body_bytes(), "body_bytes");
  const wire::PlanSummary& summary = message.summary();
  plan.summary = {.add = summary.add(),
                  .change = summary.change(),
                  .remove = summary.remove(),
                  .tasks = summary.tasks(),
                  .phases = summary.phases(),
                  .nodes = summary.nodes(),
                  .clusters = summary.clusters(),
                  .parallel = summary.parallel(),
                  .left_out = summary.left_out()};
  return decoder.finish(
      core::PlanRecordPtr(std::make_shared<const core::PlanRecord>(std::move(plan))));
}

void append_plan(Batch& batch, const core::PutPlan& write) {
  batch.records.push_back({.space = Space::Plan,
                           .key = revision_key(write.plan->number),
                           .value = encode(*write.plan),
                           .index = std::nullopt});
  if (!write.body) return;
  for (std::size_t part = 0; part < parts_of(write.body->size()); ++part) {
    batch.records.push_back({.space = Space::PlanPart,
                             .key = part_key(write.plan->number, static_cast<std::uint32_t>(part)),
                             .value = write.body->substr(part * kPlanPartBytes, kPlanPartBytes),
                             .index = std::nullopt});
  }
}

void append_plan(Batch& batch, const core::DropPlan& write) {
  batch.records.push_back({.space = Space::Plan,
                           .key = revision_key(write.number),
                           .value = std::nullopt,
                           .index = std::nullopt});
  for (std::size_t part = 0; part < parts_of(write.body_bytes); ++part) {
    batch.records.push_back({.space = Space::PlanPart,
                             .key = part_key(write.number, static_cast<std::uint32_t>(part)),
                             .value = std::nullopt,
                             .index = std::nullopt});
  }
}

Result<std::optional<core::PlanBody>> read_body(Store& store, const core::PlanRecord& plan) {
  std::string bytes;
  for (std::size_t part = 0; part < parts_of(plan.body_bytes); ++part) {
    MUSTER_TRY_ASSIGN(
        const auto value,
        store.get(Space::PlanPart, part_key(plan.number, static_cast<std::uint32_t>(part))));
    if (!value) return std::optional<core::PlanBody>();
    bytes += *value;
  }
  MUSTER_TRY_ASSIGN(core::PlanBody body, decode_body(bytes));
  return std::optional<core::PlanBody>(std::move(body));
}

}  // namespace muster::store
