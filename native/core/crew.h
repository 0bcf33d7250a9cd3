// Work in batches, done by threads of its own, as many as the budget grants.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/budget.h"

namespace metainfo {

// A class that derives from it must call stop() in its destructor.
class Crew : private Budget::Claim {
 public:
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Once. `finished` is called once, when the outcome stands, on one of the crew's threads or, when the
  // system gives it none, here. It must only pass the word on, and call neither crew nor budget.
  void start(std::function<void()> finished);

  // On the thread that started it. Without a worker it ends at once, with `finished` called here.
  void cancel();

  // Waits for the threads, which must have been told to end, or be about to. On the thread that started it.
  void join();

  // cancel() and join(), with `finished` no longer called where there was no worker.
  void stop();

  // How many others go first while it has no worker; otherwise 0.
  std::size_t queued() const { return budget_.queued(*this); }

 protected:
  // After a batch of so many bytes: true when the worker must leave.
  using Served = std::function<bool(std::uint64_t bytes)>;

  explicit Crew(Budget& budget) : budget_(budget) {}

  // Before start().
  void ask_for(unsigned workers, std::uint64_t memory_each);

  // On several threads at once: does batches until none is left or the crew was cancelled (true), or `served`
  // tells it to leave (false).
  virtual bool work(const Served& served) noexcept = 0;

  // Makes up the outcome, when no worker runs any more. `unstarted`: the system had no thread to give.
  virtual void settle(bool unstarted) = 0;

  std::atomic<bool>& cancelled() { return *cancelled_; }
  // Where others have to see it.
  void share_cancelled(std::atomic<bool>& flag) { cancelled_ = &flag; }

 private:
  // Threads come and go. One that is done waits in its place to be joined.
  struct Place {
    std::thread thread;
    bool done = false;
  };

  bool start_worker() override;
  void abandon() override;
  void run(Place& place);

  Budget& budget_;
  std::vector<std::unique_ptr<Place>> places_;  // under the budget's lock, until the claim is gone
  bool started_ = false;
  std::atomic<bool> own_cancelled_{false};
  std::atomic<bool>* cancelled_ = &own_cancelled_;
  std::function<void()> finished_;
};

}  // namespace metainfo
