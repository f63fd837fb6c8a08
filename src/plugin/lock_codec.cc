#include "plugin/lock_codec.h"

#include "plugin/message.h"

namespace muster::plugin {
namespace {

void check_alone(TaskDecoder& decoder, std::size_t number) {
  const plan::Task& task = decoder.task(number);
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
    check_alone(decoder, 0);
    check_alone(decoder, 1);
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
