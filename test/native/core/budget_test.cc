#include "core/budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "threads.h"

using metainfo::Budget;

namespace {

// Requests of one thread, and what each was granted: 0 while it waits.
class Requests {
 public:
  explicit Requests(Budget& budget) : budget_(budget) {}

  Budget::Ticket add(unsigned threads, bool accepts = true) {
    const std::size_t index = granted_.size();
    granted_.push_back(0);
    return budget_.request(threads, [this, index, accepts](unsigned granted) {
      granted_[index] = granted;
      order_.push_back(static_cast<unsigned>(index));
      return accepts;
    });
  }

  const std::vector<unsigned>& granted() const { return granted_; }
  const std::vector<unsigned>& order() const { return order_; }

 private:
  Budget& budget_;
  std::vector<unsigned> granted_;
  std::vector<unsigned> order_;
};

using List = std::vector<unsigned>;

}  // namespace

TEST("budget: a job alone gets all that it asks for") {
  for (const unsigned threads : {1U, 3U, 4U, 5U, 100U}) {
    const check::Case round(std::to_string(threads) + " of 4");
    Budget budget(4);
    Requests requests(budget);
    requests.add(threads);
    CHECK_EQUAL(requests.granted(), List{threads});
    budget.release(threads);
    requests.add(threads);
    CHECK_EQUAL(requests.granted(), List({threads, threads}));
  }
}

TEST("budget: what is free is shared out whole") {
  Budget budget(4);
  Requests requests(budget);
  for (const unsigned threads : {2, 1, 3, 1}) requests.add(threads);
  CHECK_EQUAL(requests.granted(), List({2, 1, 1, 0}));
  budget.release(1);
  CHECK_EQUAL(requests.granted(), List({2, 1, 1, 1}));
}

TEST("budget: those that wait start in order of arrival") {
  Budget budget(2);
  Requests requests(budget);
  for (const unsigned threads : {2, 3, 1, 1, 1}) requests.add(threads);
  CHECK_EQUAL(requests.order(), List{0});
  // The second is alone once the first is done, so it gets more than there is; the third must wait for all.
  budget.release(2);
  CHECK_EQUAL(requests.granted(), List({2, 3, 0, 0, 0}));
  budget.release(1);
  CHECK_EQUAL(requests.order(), List({0, 1}));
  budget.release(2);
  CHECK_EQUAL(requests.order(), List({0, 1, 2, 3}));
  budget.release(1);
  CHECK_EQUAL(requests.order(), List({0, 1, 2, 3, 4}));
  CHECK_EQUAL(requests.granted(), List({2, 3, 1, 1, 1}));
}

TEST("budget: a request that is withdrawn never starts") {
  Budget budget(1);
  Requests requests(budget);
  const Budget::Ticket running = requests.add(1);
  const Budget::Ticket first = requests.add(1);
  const Budget::Ticket second = requests.add(1);
  const Budget::Ticket third = requests.add(1);
  CHECK(!budget.withdraw(running));
  CHECK(budget.withdraw(second));
  CHECK(!budget.withdraw(second));
  budget.release(1);
  CHECK(!budget.withdraw(first));
  budget.release(1);
  CHECK(!budget.withdraw(third));
  budget.release(1);
  CHECK_EQUAL(requests.order(), List({0, 1, 3}));
  CHECK(!budget.withdraw(0));
  CHECK(!budget.withdraw(third + 1));
}

TEST("budget: a start that declines gives its threads back at once") {
  Budget budget(2);
  Requests requests(budget);
  requests.add(2, false);
  requests.add(2);
  requests.add(1, false);
  requests.add(2, false);
  requests.add(1);
  requests.add(5);
  CHECK_EQUAL(requests.order(), List({0, 1}));
  budget.release(2);
  CHECK_EQUAL(requests.order(), List({0, 1, 2, 3, 4, 5}));
  CHECK_EQUAL(requests.granted(), List({2, 2, 1, 2, 1, 1}));
}

TEST("budget: a request that could not be withdrawn has started") {
  Budget budget(1);
  Tally entered;
  bool returned = false;  // guarded by the budget's lock, which withdraw() takes
  budget.request(1, [](unsigned) { return true; });
  const Budget::Ticket waiting = budget.request(1, [&](unsigned) {
    entered.add();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    returned = true;
    return true;
  });
  std::thread releasing([&] { budget.release(1); });
  entered.wait();
  const bool withdrawn = budget.withdraw(waiting);
  const bool seen = returned;
  releasing.join();
  CHECK(!withdrawn);
  CHECK(seen);
}

TEST("budget: many threads never get more than there is, and lose none of it") {
  constexpr unsigned kLimit = 4;
  constexpr unsigned kRounds = 500;
  Budget budget(kLimit);
  std::atomic<unsigned> used{0};
  std::atomic<unsigned> most{0};
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> started{0};
  std::atomic<unsigned> withdrawn{0};
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 8; ++id) {
    threads.emplace_back([&, id] {
      for (unsigned round = 0; round < kRounds; ++round) {
        const unsigned wanted = 1 + (id + round) % kLimit;
        const bool accepts = (id + round) % 7 != 0;
        std::atomic<unsigned> granted{0};
        Tally done;
        // What it reads after done.add() must be its own: this round is over then.
        const Budget::Ticket ticket = budget.request(wanted, [&, accepts](unsigned threads_granted) {
          if (threads_granted < 1 || threads_granted > wanted) ++wrong;
          if (accepts) {
            // Starts run one at a time, under the budget's lock.
            const unsigned now = used += threads_granted;
            if (now > most) most = now;
          }
          ++started;
          granted = threads_granted;
          done.add();
          return accepts;
        });
        if (round % 3 == 0 && budget.withdraw(ticket)) {
          ++withdrawn;
          continue;
        }
        done.wait();
        if (!accepts) continue;
        used -= granted;
        budget.release(granted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0U);
  CHECK_EQUAL(most.load(), kLimit);
  CHECK_EQUAL(started + withdrawn, 8 * kRounds);
  Requests requests(budget);
  requests.add(kLimit + 1);
  CHECK_EQUAL(requests.granted(), List{kLimit + 1});
}

TEST("budget: the process has one, of a thread a core") {
  Budget& budget = Budget::process();
  CHECK(&budget == &Budget::process());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  Requests requests(budget);
  requests.add(cores);
  const Budget::Ticket waiting = requests.add(1);
  CHECK_EQUAL(requests.granted(), List({cores, 0}));
  CHECK(budget.withdraw(waiting));
  budget.release(cores);
}
