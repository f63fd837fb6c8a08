#include "controller/model_advisor.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/field_errors.h"
#include "log/thread_name.h"

namespace muster::controller {

ModelAdvisor::ModelAdvisor(Report report, Plugins plugins)
    : report_(std::move(report)), plugins_(std::move(plugins)), thread_([this] { run(); }) {}

void ModelAdvisor::ask(core::AskModel ask) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(ask));
  }
  wake_.notify_one();
}

void ModelAdvisor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

model::Answers ModelAdvisor::answer(const std::vector<model::Question>& questions) const {
  model::Answers answers;
  std::vector<model::Question> for_plugins;
  for (const model::Question& question : questions) {
    if (question.kind != model::Question::Kind::Directory) {
      for_plugins.push_back(question);
      continue;
    }
    std::error_code problem;
    std::string& wrong = answers[question];
    if (!std::filesystem::is_directory(question.value, problem)) {
      wrong =
          fmt::format("{} is not a directory of the controller's host", in_quotes(question.value));
    }
  }
  if (for_plugins.empty()) return answers;
  answers.merge(plugins_(for_plugins));
  for (const model::Question& question : for_plugins) {
    answers.try_emplace(question, fmt::format("the plugin of pack '{}' did not say whether it is "
                                              "right",
                                              question.pack));
  }
  return answers;
}

void ModelAdvisor::run() {
  log::name_thread("advisor");
  while (true) {
    core::AskModel ask;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      ask = std::move(queue_.front());
      queue_.pop_front();
    }
    report_(core::ModelAnswered{.lookup = ask.lookup, .answers = answer(ask.questions)});
  }
}

}  // namespace muster::controller
