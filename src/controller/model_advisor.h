#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/effects.h"
#include "core/input.h"

namespace muster::controller {

// Answers what an edit of the model needs to know of the world outside: whether a directory is
// there, and what plugins say of a value. Every question gets an answer; one that cannot be found
// out is answered with why, which refuses the edit.
//
// Threading: ask() from any thread, never blocks. `report` is called on the advisor's own thread,
// since both disks and plugins may be slow.
class ModelAdvisor {
 public:
  using Report = std::function<void(core::Input)>;
  // Answers the questions that are for plugins, all of them. Asked on the advisor's thread.
  using Plugins = std::function<model::Answers(const std::vector<model::Question>& questions)>;

  ModelAdvisor(Report report, Plugins plugins);
  ~ModelAdvisor() { stop(); }
  ModelAdvisor(const ModelAdvisor&) = delete;
  ModelAdvisor& operator=(const ModelAdvisor&) = delete;

  void ask(core::AskModel ask);
  void stop();  // what is not answered by then never is

 private:
  void run();
  model::Answers answer(const std::vector<model::Question>& questions) const;

  const Report report_;
  const Plugins plugins_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<core::AskModel> queue_;  // protected by mutex_; bounded by the engine
  bool stopping_ = false;             // protected by mutex_
  std::thread thread_;
};

}  // namespace muster::controller
