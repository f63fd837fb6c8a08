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

std::string ModelAdvisor::answer(const model::Question& question) const {
  if (question.kind != model::Question::Kind::Directory) return plugins_(question);
  std::error_code problem;
  if (std::filesystem::is_directory(question.value, problem)) return {};
  return fmt::format("{} is not a directory of the controller's host", in_quotes(question.value));
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
    core::ModelAnswered answered{.lookup = ask.lookup, .answers = {}};
    for (const model::Question& question : ask.questions) {
      answered.answers.emplace(question, answer(question));
    }
    report_(std::move(answered));
  }
}

}  // namespace muster::controller
