// Base class of jobs: a group of worker threads that do the parts of a job, as many as the budget grants.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/threads/budget.h"
#include "core/threads/worker_thread.h"

namespace metainfo {

// A derived class must call stop() in its destructor. If a shared_ptr owns the group, so does each of its
// threads: a thread that is stuck in a system call keeps alive what it may still write to, and stop() does
// not wait for it.
class WorkerGroup : private Budget::Claim, public std::enable_shared_from_this<WorkerGroup> {
 public:
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // Call it once. `finished` is called once, when the outcome is final: on a thread of the group, or on the
  // caller's if the system cannot start a thread. It must only pass on the message, and call neither the
  // group nor the budget.
  void start(std::function<void()> finished);

  // Call it on the thread that called start(). A group without workers ends at once: `finished` is then
  // called before this returns.
  void cancel();

  // Waits for all threads, which must be about to end. Call it on the thread that called start().
  void join() { budget_.wait_for_threads(*this); }

  // Cancels the job and waits for its threads, except those that are stuck and own the group. `finished` is
  // not called any more.
  void stop();

  // The position of this job in the queue, from 1, while it has no worker; otherwise 0.
  std::size_t queued() const { return budget_.queued(*this); }

 protected:
  // A worker reports the bytes of a part that it has done; true means that it must leave.
  using Served = std::function<bool(std::uint64_t bytes)>;

  explicit WorkerGroup(Budget& budget) : budget_(budget) {}

  // Call it before start().
  void want_workers(unsigned workers, std::uint64_t memory_per_worker);

  // Asks for more workers. Call it on a worker that knows of parts for them.
  void request_more(unsigned workers) { budget_.raise(*this, workers); }

  // Runs on several threads at once. Does parts until none is left or the group has ended (returns true), or
  // until `served` tells it to leave (returns false). `leftover` is destroyed after the thread has left the
  // budget: it takes what needs system calls to destroy.
  virtual bool run_worker(WorkerThread& thread, const Served& served,
                          std::shared_ptr<void>& leftover) noexcept = 0;

  // Whether the threads must leave because the job was cancelled or has failed.
  virtual bool ended() const { return *cancelled_; }

  // Computes the outcome, once no worker runs any more. `unstarted`: the system could not start any thread.
  virtual void settle(bool unstarted) = 0;

  std::atomic<bool>& cancelled() { return *cancelled_; }
  // Replaces the group's own flag by one that other objects read too.
  void share_cancelled(std::atomic<bool>& flag) { cancelled_ = &flag; }

 private:
  class GroupThread final : public WorkerThread {
   public:
    explicit GroupThread(const WorkerGroup& group) : group_(group) {}

   private:
    bool stopped() const override { return group_.ended(); }
    const WorkerGroup& group_;
  };

  bool start_worker() override;
  void abandon() override { finish(true); }
  unsigned give_up_stuck() override;
  void run_thread(GroupThread& thread);
  void finish(bool unstarted);

  Budget& budget_;
  std::vector<std::unique_ptr<GroupThread>> group_threads_;  // those that have not left; budget's lock
  bool started_ = false;
  std::atomic<bool> own_cancelled_{false};
  std::atomic<bool>* cancelled_ = &own_cancelled_;
  std::mutex finish_;
  std::function<void()> finished_;  // guarded by `finish_` after start()
};

}  // namespace metainfo
