// A plan being hashed by threads of its own.
#pragma once

#include <functional>
#include <thread>
#include <variant>

#include "core/budget.h"
#include "core/gauge.h"
#include "core/plan.h"
#include "kernels/kernel.h"

namespace metainfo {

class Job {
 public:
  using Outcome = std::variant<std::monostate, Digests, Failure>;

  Job(Plan plan, const Kernel& kernel) : plan_(std::move(plan)), kernel_(kernel) {}
  ~Job() { stop(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Once. `finished` is called once, when the outcome stands, on any thread: the job's own or, when the
  // system gives it none, the one that would have started it. It must only pass the word on, and call neither
  // job nor budget.
  void start(std::function<void()> finished);

  // On the thread that started it. A job that still waits for threads ends at once, with `finished` called
  // here.
  void cancel();

  // Waits for the job's threads. On the thread that started it.
  void join();

  // cancel() and join(), with `finished` no longer called for a job that was waiting.
  void stop();

  const Gauge& gauge() const { return gauge_; }
  Outcome& outcome() { return outcome_; }

 private:
  bool run(unsigned threads);
  void hash();

  Plan plan_;
  const Kernel& kernel_;
  Gauge gauge_;
  Outcome outcome_;
  std::function<void()> finished_;
  Budget::Ticket ticket_ = 0;
  std::thread thread_;
};

}  // namespace metainfo
