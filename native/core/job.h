// A plan being hashed by threads of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "core/budget.h"
#include "core/gauge.h"
#include "core/plan.h"
#include "core/work.h"
#include "kernels/kernel.h"

namespace metainfo {

class Job : private Budget::Claim {
 public:
  using Outcome = std::variant<std::monostate, Digests, Failure>;

  // Throws Failure, std::bad_alloc.
  Job(Plan plan, const Kernels& kernels, Budget& budget = Budget::process());
  ~Job() override { stop(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Once. `finished` is called once, when the outcome stands, on one of the job's threads or, when the system
  // gives it none, here. It must only pass the word on, and call neither job nor budget.
  void start(std::function<void()> finished);

  // On the thread that started it. A job that has no worker then ends at once, with `finished` called here.
  void cancel();

  // Waits for the job's threads, which must have been told to end, or be about to. On the thread that started
  // it.
  void join();

  // cancel() and join(), with `finished` no longer called for a job without a worker.
  void stop();

  const Gauge& gauge() const { return gauge_; }
  // How many jobs go before this one while it has no worker; otherwise 0.
  std::size_t queued() const { return budget_.queued(*this); }
  Outcome& outcome() { return outcome_; }

 private:
  // Threads come and go while a job runs. One that is done waits in its place to be joined.
  struct Place {
    std::thread thread;
    bool done = false;
  };

  bool start_worker() override;
  void abandon() override;
  void run(Place& place);
  void settle();

  Gauge gauge_;
  Work work_;
  Budget& budget_;
  std::vector<std::unique_ptr<Place>> places_;  // under the budget's lock, until the claim is gone
  bool started_ = false;
  Outcome outcome_;
  std::function<void()> finished_;
};

}  // namespace metainfo
