// A job that runs one function on a thread of its own, because it would hold up the event loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "core/hash/hash_request.h"
#include "core/threads/worker_group.h"

namespace metainfo {

class TaskJob : public WorkerGroup {
 public:
  // The function should return soon after `cancelled` has become true.
  using Task = std::function<void(const std::atomic<bool>& cancelled)>;

  explicit TaskJob(Task task, Budget& budget = Budget::process());
  ~TaskJob() override { stop(); }

  // Why the function failed; empty if it has returned. If the system could start no thread, it has run on the
  // thread that gave the job its place in the budget, and held up the other jobs.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  void settle(bool unstarted) override;
  void run() noexcept;

  const Task task_;
  std::optional<Failure> failure_;
};

}  // namespace metainfo
