// The process-wide limit on hashing threads and their memory, which all jobs share.
//
// A job does its work in parts and wants a number of workers. A free thread goes to the job with the fewest
// workers; among equals, to the job that has been served fewer bytes, in doubling steps; then to the job that
// came first. After a part, a worker leaves if another job has a better claim to its place. So a small job
// waits for one part of a large job, never for the whole job, and equal jobs do not take turns after every
// part.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace metainfo {

class Budget {
 public:
  struct Limits {
    unsigned threads;
    std::uint64_t memory;  // bytes
  };

  // The claim of one job to threads and memory. The budget's lock guards all members.
  class Claim {
   public:
    virtual ~Claim() = default;

    unsigned wanted_workers = 0;  // at most; 0 when no part is left
    std::uint64_t memory = 0;     // bytes per worker

   protected:
    // The budget calls these three with its lock held, on whichever thread changed something: they must not
    // call the budget.

    // Starts one worker. Returns false if the system cannot start a thread.
    virtual bool start_worker() = 0;
    // Not even the only worker could be started: the claim is removed.
    virtual void abandon() = 0;
    // The claim is being withdrawn: gives up the workers that are stuck in system calls and returns their
    // number.
    virtual unsigned give_up_stuck() { return 0; }

   private:
    friend class Budget;
    std::uint64_t arrival_ = 0;
    std::uint64_t served_ = 0;  // bytes
    unsigned active_ = 0;
    unsigned threads_ = 0;      // active workers, and threads that were given up or are about to end
    unsigned passed_over_ = 0;  // how often another job was preferred while this one had no worker
    bool entered_ = false;
  };

  explicit Budget(Limits limits) : limits_(limits) {}

  // The budget of the process: one thread per core, 64 MiB each. It is never destroyed, because jobs may end
  // while the process exits.
  static Budget& process();

  // The resources in use now.
  struct Usage {
    unsigned threads;
    std::uint64_t memory;  // bytes
    std::size_t waiting;   // jobs without a worker
  };
  Usage usage() const;

  Limits limits();
  // Applies to running jobs too: their surplus workers leave after their next part.
  void set_limits(Limits limits);

  // Adds a claim. May start workers at once.
  void enter(Claim& claim);

  // Called by a worker after a part of `bytes`. Returns true if the worker must leave.
  bool served(Claim& claim, std::uint64_t bytes);

  // Called by a worker: the claim wants that many workers from now on, unless it was withdrawn.
  void raise(Claim& claim, unsigned workers);

  // Called by a worker that leaves. `exhausted`: no part is left. Returns true for the job's last worker:
  // then the claim is removed. Any other worker must not touch the job's outcome afterwards.
  bool leave(Claim& claim, bool exhausted);

  // Called by a thread, as its last act, after it has left or was given up. `forget` runs with the lock held.
  template <typename Forget>
  void end_thread(Claim& claim, Forget forget) {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget();
    --claim.threads_;
    ended_.notify_all();
  }

  // Ends a claim, and frees the places of workers that are stuck. Returns true if no worker runs or will run:
  // then the claim is removed. Otherwise the last worker removes it.
  bool withdraw(Claim& claim);

  // Waits for the workers of a claim, except those that were given up.
  void wait_for_workers(const Claim& claim);
  // Waits for all threads of a claim.
  void wait_for_threads(const Claim& claim);

  // The position of this job in the queue, from 1; 0 if it has a worker or has ended.
  std::size_t queued(const Claim& claim);

 private:
  bool waits(const Claim& claim) const;
  bool before(const Claim& a, const Claim& b) const;
  bool must_leave(const Claim& claim) const;
  bool fits(const Claim& claim) const;
  void remove(Claim& claim);
  void admit();

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Claim*> claims_;
  Limits limits_;
  unsigned used_threads_ = 0;
  std::uint64_t used_memory_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace metainfo
