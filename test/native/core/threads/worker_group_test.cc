#include "core/threads/worker_group.h"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::WorkerGroup;
using metainfo::WorkerThread;

namespace {

constexpr std::uint64_t kAmpleMemory = std::uint64_t{1} << 40;

// A group of one worker, which runs a function. Further workers of the group wait for its end.
class Group final : public WorkerGroup {
 public:
  Group(Budget& budget, std::function<void(Group&)> first) : WorkerGroup(budget), first_(std::move(first)) {
    want_workers(1, 0);
  }
  ~Group() override { stop(); }

  using WorkerGroup::request_more;
  unsigned workers() { return entered_.count(); }
  void wait_for_workers(unsigned count) { entered_.wait(count); }

 private:
  bool run_worker(WorkerThread&, const Served&, std::shared_ptr<void>&) noexcept override {
    entered_.add();
    if (!is_first_.exchange(false)) {
      first_ended_.wait();
      return true;
    }
    first_(*this);
    first_ended_.add();
    return true;
  }
  void settle(bool) override {}

  const std::function<void(Group&)> first_;
  std::atomic<bool> is_first_{true};
  Tally entered_;
  Tally first_ended_;
};

// Runs a group to its end. Returns the number of its workers.
unsigned workers_of(Budget& budget, const std::function<void(Group&)>& first) {
  Group group(budget, first);
  Tally finished;
  group.start([&] { finished.add(); });
  finished.wait();
  group.join();
  REQUIRE_EQ(finished.count(), 1U);
  return group.workers();
}

}  // namespace

TEST_CASE("WorkerGroup: a worker may ask for more, up to the limit of the budget") {
  Budget budget({3, kAmpleMemory});
  REQUIRE_EQ(workers_of(budget, [](Group&) {}), 1U);
  const auto two = [](Group& group) {
    group.request_more(2);
    group.wait_for_workers(2);
  };
  REQUIRE_EQ(workers_of(budget, two), 2U);
  const auto many = [](Group& group) {
    group.request_more(8);
    group.wait_for_workers(3);
    group.request_more(8);
  };
  REQUIRE_EQ(workers_of(budget, many), 3U);
}

TEST_CASE("WorkerGroup: a group that was cancelled gets no more workers") {
  Budget budget({3, kAmpleMemory});
  const auto ask = [](Group& group) {
    group.cancel();
    group.request_more(8);
  };
  REQUIRE_EQ(workers_of(budget, ask), 1U);
}

#ifdef __GLIBC__
TEST_CASE("WorkerGroup: asking for more does no harm if the system starts no thread") {
  Budget budget({3, kAmpleMemory});
  const auto ask = [](Group& group) {
    const NoThreads none(1);
    group.request_more(8);
  };
  REQUIRE_EQ(workers_of(budget, ask), 1U);
}
#endif
