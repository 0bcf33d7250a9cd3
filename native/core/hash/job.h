// A hash job: hashes a request on worker threads and keeps the digests or the failure.
#pragma once

#include <variant>

#include "core/hash/hash_request.h"
#include "core/hash/job_state.h"
#include "core/threads/progress.h"
#include "core/threads/worker_group.h"
#include "kernels/kernel.h"

namespace metainfo {

class Job final : public WorkerGroup {
 public:
  using Outcome = std::variant<std::monostate, Digests, Failure>;

  // Throws Failure and std::bad_alloc.
  Job(HashRequest request, const Kernels& kernels, Budget& budget = Budget::process());
  ~Job() override { stop(); }

  // Hashes the request on the calling thread, instead of start(): outside the budget, so only for little
  // content in memory. The outcome is final afterwards.
  void run_here();

  Version version() const { return state_.request.version; }
  const Progress& progress() const { return progress_; }
  // Valid after `finished` was called; std::monostate before.
  Outcome& outcome() { return outcome_; }

 private:
  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  bool ended() const override;
  void settle(bool unstarted) override;

  Progress progress_;
  JobState state_;
  Outcome outcome_;
};

}  // namespace metainfo
