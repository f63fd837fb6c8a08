#include "plugin/lock_codec.h"

#include "model/quoted.h"
#include "plugin/message.h"

namespace muster::plugin {
namespace {

std::string names(const std::vector<model::Path>& paths) {
  std::string text;
  for (const model::Path& path : paths) text += (text.empty() ? "" : ", ") + path.text();
  return text;
}

void check_place(TaskDecoder& decoder, std::size_t number, const model::Path& node) {
  const plan::Task& task = decoder.task(number);
  if (!task.item.is_at_or_below(node)) {
    decoder.add_problem(number, "item",
                        fmt::format("{} is not the node, nor below it", task.item.text()));
  }
  if (const auto* config = std::get_if<plan::ConfigWork>(&task.work)) {
    if (config->node != node) {
      decoder.add_problem(number, "node", fmt::format("is {}, another node", config->node.text()));
    }
  } else if (const auto* remote = std::get_if<plan::RemoteWork>(&task.work)) {
    if (remote->nodes != std::vector<model::Path>{node}) {
      decoder.add_problem(
          number, "nodes",
          fmt::format("are {}; a lock acts on its own node alone", names(remote->nodes)));
    }
  }
  if (!task.tag.empty()) {
    decoder.add_problem(number, "tag",
                        fmt::format("is {}; a lock has none, as it stands between the groups of "
                                    "its node",
                                    model::quoted(task.tag)));
  }
  if (!task.requirements.empty()) {
    decoder.add_problem(number, "requires",
                        "a lock can require nothing: it stands alone in its phase");
  }
}

}  // namespace

LockAnswer read_locks(const TaskReading& reading, const model::Path& node, Json&& answer) {
  LockAnswer read;
  if (answer.is_null()) return read;
  if (!answer.is_object() || answer.size() != 2 || !answer.contains("lock") ||
      !answer.contains("unlock")) {
    read.problems.push_back(
        fmt::format("{}: the answer must have 'lock' and 'unlock', or be null; it is {}",
                    node.text(), excerpt(dump_json(answer))));
    return read;
  }
  TaskDecoder decoder(reading.plugin, reading.model, reading.callbacks, reading.limits);
  decoder.call_tasks({"the lock task", "the unlock task"});
  decoder.add_one(std::move(answer["lock"]));
  decoder.add_one(std::move(answer["unlock"]));
  if (decoder.problems().empty()) {
    check_place(decoder, 0, node);
    check_place(decoder, 1, node);
  }
  decoder.finish();
  for (const std::string& problem : decoder.problems()) {
    read.problems.push_back(fmt::format("{}: {}", node.text(), problem));
  }
  if (!read.problems.empty()) return read;
  std::vector<plan::Task> tasks = std::move(decoder).take();
  read.pair = plan::LockPair{node, std::move(tasks[0]), std::move(tasks[1])};
  return read;
}

}  // namespace muster::plugin
