#include <utility>
#include <variant>

#include "record.pb.h"
#include "store/plan_codec.h"
#include "store/record_decoder.h"

// Decoding checks what the readers of a plan rely on: indexes point to something.

namespace muster::store {
namespace {

namespace wire = record::v1;

static_assert(static_cast<int>(plan::TaskKind::Remote) + 1 == wire::TASK_KIND_REMOTE);

std::uint32_t to_wire(std::uint32_t index) { return index == plan::kNone ? 0 : index + 1; }
std::uint32_t from_wire(std::uint32_t index) { return index == 0 ? plan::kNone : index - 1; }

void fill(wire::PlanCall& out, const plan::Call& call) {
  out.set_type(call.type);
  out.set_id(call.id);
}

void fill_work(wire::PlanTask& out, const plan::Work& work) {
  if (const auto* config = std::get_if<plan::ConfigWork>(&work)) {
    out.add_nodes(config->node.text());
    fill(*out.mutable_call(), config->call);
    out.set_arguments(config->attributes);
    for (const plan::Call& call : config->replaces) fill(*out.add_replaces(), call);
    out.set_transient(!config->persist);
  } else if (const auto* callback = std::get_if<plan::CallbackWork>(&work)) {
    out.set_name(callback->method);
    out.set_arguments(callback->arguments);
  } else {
    const auto& remote = std::get<plan::RemoteWork>(work);
    for (const model::Path& node : remote.nodes) out.add_nodes(node.text());
    out.set_name(remote.action);
    out.set_arguments(remote.inputs);
  }
}

void fill_task(wire::PlanTask& out, const plan::Task& task, const plan::Placement& placement,
               const core::PlanBody::About& about) {
  out.set_kind(static_cast<wire::TaskKind>(static_cast<int>(task.kind()) + 1));
  out.set_plugin(task.plugin);
  out.set_item(task.item.text());
  out.set_description(task.description);
  out.set_tag(task.tag);
  for (const model::Path& item : task.model_items) out.add_model_items(item.text());
  for (const plan::Requirement& requirement : task.requirements) {
    wire::PlanRequirement& each = *out.add_requirements();
    if (const auto* required = std::get_if<plan::RequiredTask>(&requirement)) {
      each.set_task(required->index);
    } else if (const auto* item = std::get_if<plan::RequiredItem>(&requirement)) {
      each.set_item(item->path.text());
    } else {
      fill(*each.mutable_call(), std::get<plan::RequiredCall>(requirement).call);
    }
  }
  out.set_has_future(task.has_future);
  fill_work(out, task.work);
  out.set_phase(to_wire(placement.phase));
  out.set_role(static_cast<std::uint32_t>(placement.role));
  out.set_left_out(static_cast<std::uint32_t>(placement.left_out));
  out.set_as_in_node(placement.as_in_node);
  out.set_is_reversed(placement.is_reversed);
  out.set_state(static_cast<wire::ItemState>(static_cast<int>(about.state) + 1));
  for (const core::PropertyChange& change : about.changes) {
    wire::PlanPropertyChange& each = *out.add_changes();
    each.set_name(change.name);
    if (change.before) each.set_before(*change.before);
    if (change.after) each.set_after(*change.after);
  }
}

class BodyReader {
 public:
  explicit BodyReader(wire::PlanBody& in) : in_(in) {}

  Result<core::PlanBody> read() {
    for (std::string& group : *in_.mutable_groups()) plan_.groups.push_back(std::move(group));
    for (const std::string& cluster : in_.clusters()) plan_.clusters.push_back(path(cluster));
    for (const std::string& node : in_.nodes()) plan_.nodes.push_back(path(node));
    for (wire::PlanTask& task : *in_.mutable_tasks()) read_task(task);
    for (wire::PlanPhase& phase : *in_.mutable_phases()) read_phase(phase);
    plan_.planned = static_cast<std::size_t>(in_.planned());
    if (plan_.planned > plan_.tasks.size()) decoder_.reject("planned", "more than there are tasks");
    read_order();
    for (std::string& name : *in_.mutable_remembered()) {
      plan_.remembered.push_back(std::move(name));
    }
    plan_.first_remembered = in_.first_remembered();
    for (std::string& notice : *in_.mutable_notices()) plan_.notices.push_back(std::move(notice));
    return decoder_.finish(std::move(body_));
  }

 private:
  model::Path path(const std::string& text) {
    auto parsed = model::Path::parse(text);
    if (parsed) return std::move(*parsed);
    decoder_.reject("path", parsed.error().message);
    return {};
  }

  static plan::Call call(wire::PlanCall& in) {
    return {std::move(*in.mutable_type()), std::move(*in.mutable_id())};
  }

  template <typename Size>
  void check_index(std::uint32_t index, Size size, std::string_view field) {
    if (index < static_cast<std::size_t>(size)) return;
    decoder_.reject(field, fmt::format("{} points beyond {}", index, size));
  }

  plan::Work work(wire::PlanTask& in, plan::TaskKind kind) {
    if (kind == plan::TaskKind::Callback) {
      return plan::CallbackWork{std::move(*in.mutable_name()), std::move(*in.mutable_arguments())};
    }
    if (kind == plan::TaskKind::Remote) {
      plan::RemoteWork remote;
      for (const std::string& node : in.nodes()) remote.nodes.push_back(path(node));
      remote.action = std::move(*in.mutable_name());
      remote.inputs = std::move(*in.mutable_arguments());
      return remote;
    }
    plan::ConfigWork config;
    if (in.nodes_size() == 1) {
      config.node = path(in.nodes(0));
    } else {
      decoder_.reject("nodes", "a config task has one node");
    }
    config.call = call(*in.mutable_call());
    config.attributes = std::move(*in.mutable_arguments());
    for (wire::PlanCall& each : *in.mutable_replaces()) config.replaces.push_back(call(each));
    config.persist = !in.transient();
    return config;
  }

  plan::Requirement requirement(wire::PlanRequirement& in) {
    switch (in.what_case()) {
      case wire::PlanRequirement::kTask:
        check_index(static_cast<std::uint32_t>(in.task()), in_.tasks_size(), "requirements");
        return plan::RequiredTask{static_cast<std::size_t>(in.task())};
      case wire::PlanRequirement::kItem:
        return plan::RequiredItem{path(in.item())};
      case wire::PlanRequirement::kCall:
        return plan::RequiredCall{call(*in.mutable_call())};
      case wire::PlanRequirement::WHAT_NOT_SET:
        break;
    }
    decoder_.reject("requirements", "one says nothing");
    return plan::RequiredItem{};
  }

  void read_task(wire::PlanTask& in) {
    plan::Task task;
    const auto kind = decoder_.enumeration(in.kind(), plan::TaskKind::Remote, "kind");
    task.plugin = std::move(*in.mutable_plugin());
    task.item = path(in.item());
    task.description = std::move(*in.mutable_description());
    task.tag = std::move(*in.mutable_tag());
    for (const std::string& item : in.model_items()) task.model_items.push_back(path(item));
    for (wire::PlanRequirement& each : *in.mutable_requirements()) {
      task.requirements.push_back(requirement(each));
    }
    task.work = work(in, kind);
    task.has_future = in.has_future();
    plan_.tasks.push_back(std::move(task));

    plan::Placement placement;
    placement.phase = from_wire(in.phase());
    if (placement.phase != plan::kNone) {
      check_index(placement.phase, in_.phases_size(), "phase");
    }
    placement.role =
        decoder_.enumeration(static_cast<int>(in.role()) + 1, plan::TaskRole::Cleanup, "role");
    placement.left_out = decoder_.enumeration(static_cast<int>(in.left_out()) + 1,
                                              plan::LeftOut::NodeForRemoval, "left_out");
    placement.as_in_node = in.as_in_node();
    placement.is_reversed = in.is_reversed();
    plan_.placements.push_back(placement);

    core::PlanBody::About about;
    about.state = decoder_.enumeration(in.state(), model::ItemState::Removed, "state");
    for (wire::PlanPropertyChange& each : *in.mutable_changes()) {
      core::PropertyChange change;
      change.name = std::move(*each.mutable_name());
      if (each.has_before()) change.before = std::move(*each.mutable_before());
      if (each.has_after()) change.after = std::move(*each.mutable_after());
      about.changes.push_back(std::move(change));
    }
    body_.about.push_back(std::move(about));
  }

  void read_phase(wire::PlanPhase& in) {
    plan::Phase phase;
    phase.group = in.group();
    phase.cluster = from_wire(in.cluster());
    phase.node = from_wire(in.node());
    phase.first = in.first();
    phase.count = in.count();
    phase.rank = in.rank();
    phase.after.assign(in.after().begin(), in.after().end());
    check_index(phase.group, plan_.groups.size(), "group");
    if (phase.cluster != plan::kNone) check_index(phase.cluster, plan_.clusters.size(), "cluster");
    if (phase.node != plan::kNone) check_index(phase.node, plan_.nodes.size(), "node");
    if (std::uint64_t{phase.first} + phase.count > plan_.tasks.size()) {
      decoder_.reject("phase", "has tasks that there are not");
    }
    for (const std::uint32_t after : phase.after) {
      check_index(after, plan_.phases.size(), "after");
    }
    plan_.phases.push_back(std::move(phase));
  }

  void read_order() {
    const auto vertices = static_cast<std::size_t>(in_.edge_counts_size());
    const auto edges = static_cast<std::size_t>(in_.edge_from_size());
    if (edges != static_cast<std::size_t>(in_.edge_kind_size())) {
      return decoder_.reject("edges", "as many kinds as edges are needed");
    }
    plan_.order.reserve(vertices, edges);
    std::size_t next = 0;
    for (const std::uint32_t count : in_.edge_counts()) {
      plan_.order.add_vertex();
      if (count > edges - next)
        return decoder_.reject("edges", "there are fewer than were counted");
      for (std::size_t end = next + count; next < end; ++next) {
        const int at = static_cast<int>(next);
        check_index(in_.edge_from(at), vertices, "edges");
        const auto kind = decoder_.enumeration(static_cast<int>(in_.edge_kind(at)) + 1,
                                               plan::OrderKind::Member, "edges");
        plan_.order.add_edge({in_.edge_from(at), kind});
      }
    }
    plan_.order.finish();
  }

  wire::PlanBody& in_;
  Decoder decoder_{"plan body"};
  core::PlanBody body_;
  plan::Plan& plan_ = body_.plan;
};

}  // namespace

std::string encode_body(const core::PlanBody& body) {
  const plan::Plan& plan = body.plan;
  wire::PlanBody message;
  for (const std::string& group : plan.groups) message.add_groups(group);
  for (const model::Path& cluster : plan.clusters) message.add_clusters(cluster.text());
  for (const model::Path& node : plan.nodes) message.add_nodes(node.text());
  for (const plan::Phase& phase : plan.phases) {
    wire::PlanPhase& out = *message.add_phases();
    out.set_group(phase.group);
    out.set_cluster(to_wire(phase.cluster));
    out.set_node(to_wire(phase.node));
    out.set_first(phase.first);
    out.set_count(phase.count);
    out.set_rank(phase.rank);
    for (const std::uint32_t after : phase.after) out.add_after(after);
  }
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    fill_task(*message.add_tasks(), plan.tasks[i], plan.placements[i], body.about[i]);
  }
  message.set_planned(plan.planned);
  for (std::size_t vertex = 0; vertex < plan.order.size(); ++vertex) {
    const std::size_t first = plan.order.first_edge(vertex);
    const std::size_t end = plan.order.end_edge(vertex);
    message.add_edge_counts(static_cast<std::uint32_t>(end - first));
    for (std::size_t i = first; i < end; ++i) {
      const plan::OrderGraph::Edge edge = plan.order.edge(i);
      message.add_edge_from(edge.from);
      message.add_edge_kind(static_cast<std::uint32_t>(edge.kind));
    }
  }
  for (const std::string& name : plan.remembered) message.add_remembered(name);
  message.set_first_remembered(plan.first_remembered);
  for (const std::string& notice : plan.notices) message.add_notices(notice);
  std::string bytes(1, static_cast<char>(kRecordFormat));
  message.AppendToString(&bytes);
  return bytes;
}

Result<core::PlanBody> decode_body(std::string_view bytes) {
  Decoder decoder("plan body");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::PlanBody>(bytes));
  return BodyReader(message).read();
}

}  // namespace muster::store
