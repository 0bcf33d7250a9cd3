// One process-wide limit on hashing threads and their memory, shared by all jobs.
//
// Each job has work in batches, and wants up to so many workers. A worker that is free goes to the job with
// the fewest of them; among equals, to the one that has been served least, in doubling steps; then in order
// of arrival. A worker gives its place up after a batch when another job has a better claim to it. So a small
// job waits for a batch of a large one, never for the job; and equal jobs are not sliced thinly.
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

  // A job's place in the budget. The budget's lock guards all of it.
  class Claim {
   public:
    virtual ~Claim() = default;

    unsigned wanted = 0;       // workers at most; 0 when there is no work left to hand out
    std::uint64_t memory = 0;  // bytes a worker

   protected:
    // Starts one worker, under the budget's lock, on whichever thread made room: it must not call the budget.
    // False when the system has no thread to give.
    virtual bool start_worker() = 0;
    // In the same place: not even its only worker could be started, and the claim is gone.
    virtual void abandon() = 0;
    // In the same place, when the claim is withdrawn: how many workers wait for the system and were given up.
    virtual unsigned give_up_stuck() { return 0; }

   private:
    friend class Budget;
    std::uint64_t arrival_ = 0;
    std::uint64_t served_ = 0;  // bytes
    unsigned active_ = 0;
    unsigned threads_ = 0;      // active ones, and those that were given up or are about to end
    unsigned passed_over_ = 0;  // times that another was preferred while it had no worker
    bool entered_ = false;
  };

  explicit Budget(Limits limits) : limits_(limits) {}

  // The process's own: a thread a core, 64 MiB each. Never destroyed: jobs may end while the process exits.
  static Budget& process();

  Limits limits();
  // Also for jobs that run: they shrink after their next batch.
  void set_limits(Limits limits);

  // May start workers at once.
  void enter(Claim& claim);

  // By a worker after a batch of so many bytes: true when it must leave.
  bool served(Claim& claim, std::uint64_t bytes);

  // By a worker that ends. True when it was the job's last, and the claim is gone; otherwise it must touch
  // nothing of the job's outcome any more. `exhausted`: no work is left to hand out.
  bool leave(Claim& claim, bool exhausted);

  // By a thread that has left or was given up, last of all. `forget` is called under the lock.
  template <typename Forget>
  void end_thread(Claim& claim, Forget forget) {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget();
    --claim.threads_;
    ended_.notify_all();
  }

  // Gives the places of those that are stuck to others. True when no worker runs or ever will, and the claim
  // is gone; false when its workers have to end it.
  bool withdraw(Claim& claim);

  // Until no worker of it runs but those that were given up; until no thread of it is left.
  void wait_for_workers(const Claim& claim);
  void wait_for_threads(const Claim& claim);

  // How many jobs go before this one: 0 when it has a worker, or is gone.
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
