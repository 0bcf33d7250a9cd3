// Work in batches, done by threads of its own, as many as the budget grants.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/budget.h"
#include "core/seat.h"

namespace metainfo {

// A class that derives from it must call stop() in its destructor. Where a shared_ptr owns it, its threads do
// too: one that is stuck in a call of the system keeps what it may still write to, and nobody waits for it.
class Crew : private Budget::Claim, public std::enable_shared_from_this<Crew> {
 public:
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Once. `finished` is called once, when the outcome stands, on one of the crew's threads or, when the
  // system gives it none, here. It must only pass the word on, and call neither crew nor budget.
  void start(std::function<void()> finished);

  // On the thread that started it. Without a worker it ends at once, with `finished` called here.
  void cancel();

  // Waits for all threads, which must have been told to end, or be about to. On the thread that started it.
  void join() { budget_.wait_for_threads(*this); }

  // Cancels it and waits for the threads, except those that are stuck and own it. `finished` is not called
  // any more.
  void stop();

  // How many others go first while it has no worker; otherwise 0.
  std::size_t queued() const { return budget_.queued(*this); }

 protected:
  // After a batch of so many bytes: true when the worker must leave.
  using Served = std::function<bool(std::uint64_t bytes)>;

  explicit Crew(Budget& budget) : budget_(budget) {}

  // Before start().
  void ask_for(unsigned workers, std::uint64_t memory_each);

  // On several threads at once: does batches until none is left or the crew has ended (true), or `served`
  // tells it to leave (false). `rest` is destroyed when the thread has left: what takes calls of the system
  // to destroy.
  virtual bool work(Seat& seat, const Served& served, std::shared_ptr<void>& rest) noexcept = 0;

  // Whether the threads are to leave: it was cancelled, or has failed.
  virtual bool ended() const { return *cancelled_; }

  // Makes up the outcome, when no worker runs any more. `unstarted`: the system had no thread to give.
  virtual void settle(bool unstarted) = 0;

  std::atomic<bool>& cancelled() { return *cancelled_; }
  // Where others have to see it.
  void share_cancelled(std::atomic<bool>& flag) { cancelled_ = &flag; }

 private:
  class Place final : public Seat {
   public:
    explicit Place(const Crew& crew) : crew_(crew) {}

   private:
    bool stopped() const override { return crew_.ended(); }
    const Crew& crew_;
  };

  bool start_worker() override;
  void abandon() override { finish(true); }
  unsigned give_up_stuck() override;
  void run(Place& place);
  void finish(bool unstarted);

  Budget& budget_;
  std::vector<std::unique_ptr<Place>> places_;  // of threads that have not left; under the budget's lock
  bool started_ = false;
  std::atomic<bool> own_cancelled_{false};
  std::atomic<bool>* cancelled_ = &own_cancelled_;
  std::mutex finish_;
  std::function<void()> finished_;  // under `finish_` once it is started
};

}  // namespace metainfo
