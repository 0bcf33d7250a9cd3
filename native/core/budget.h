// One process-wide limit on hashing threads. A job that finds none free waits its turn without a thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace metainfo {

class Budget {
 public:
  // Called once with the number of threads granted, at least 1; false gives them back at once. Runs under the
  // budget's lock, on whichever thread freed them: it may start a thread, and must not call the budget.
  using Start = std::function<bool(unsigned threads)>;
  using Ticket = std::uint64_t;

  explicit Budget(unsigned threads) : limit_(threads) {}

  // The process's own, one thread a core. Never destroyed: jobs may end while the process exits.
  static Budget& process();

  // Calls `start` now, or later from the thread that releases. A job alone gets all that it asks for.
  Ticket request(unsigned threads, Start start);

  // True when the request was still waiting: its start will never be called. After false it has returned.
  bool withdraw(Ticket ticket);

  void release(unsigned threads);

 private:
  struct Request {
    Ticket ticket;
    unsigned threads;
    Start start;
  };

  void admit();

  std::mutex mutex_;
  std::deque<Request> waiting_;
  unsigned limit_;
  unsigned used_ = 0;
  Ticket last_ = 0;
};

}  // namespace metainfo
