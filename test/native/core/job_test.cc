#include "core/job.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "check.h"
#include "core/pipeline.h"
#include "files.h"
#include "hook_kernel.h"
#include "oracle.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::Digests;
using metainfo::Failure;
using metainfo::Gauge;
using metainfo::Job;
using metainfo::Kernel;
using metainfo::Kind;
using metainfo::Plan;

namespace {

constexpr std::uint64_t kBlock = 16384;

const Kernel& kernel() { return *metainfo::select_kernel(nullptr); }

unsigned cores() { return std::max(1U, std::thread::hardware_concurrency()); }

// All threads of the process-wide budget, while it lives: jobs must wait.
class Occupied {
 public:
  Occupied() {
    Budget::process().request(cores(), [this](unsigned granted) {
      granted_ = granted;
      return true;
    });
  }
  ~Occupied() { release(); }
  void release() { Budget::process().release(std::exchange(granted_, 0)); }

 private:
  unsigned granted_ = 0;
};

// Whether no job holds threads of the process: only who is alone gets more than there are.
bool budget_is_free() {
  unsigned got = 0;
  const Budget::Ticket ticket = Budget::process().request(cores() + 1, [&got](unsigned granted) {
    got = granted;
    return true;
  });
  Budget::process().withdraw(ticket);
  Budget::process().release(got);
  return got == cores() + 1;
}

Plan plan_of(const TempFolder& folder, std::size_t size) {
  Plan plan;
  plan.files = {folder.add("file", oracle::content(size, 1))};
  plan.piece_length = kBlock;
  plan.read_size = kBlock;
  return plan;
}

bool right(Job& job, const Digests& expected) {
  const auto* digests = std::get_if<Digests>(&job.outcome());
  return digests != nullptr && digests->v1 == expected.v1;
}

bool failed(Job& job, Failure::Code code) {
  const auto* failure = std::get_if<Failure>(&job.outcome());
  return failure != nullptr && failure->code == code;
}

// A kernel that holds its job in the first piece until the job is cancelled.
class Held {
 public:
  void watch(const Job& job) { gauge_ = &job.gauge(); }
  void wait() { entered_.wait(); }
  const Kernel& kernel() const { return hook_.kernel(); }

 private:
  const Gauge* gauge_ = nullptr;
  Tally entered_;
  HookKernel hook_{[this] {
    entered_.add();
    while (!gauge_->cancelled) std::this_thread::yield();
  }};
};

}  // namespace

TEST("job: ends once, with what the plan hashes to") {
  const TempFolder folder;
  const Plan plan = plan_of(folder, 5 * kBlock + 7);
  Gauge gauge;
  const Digests expected = hash_plan(plan, kernel(), gauge);
  Tally finished;
  {
    Job job(plan, kernel());
    CHECK(std::holds_alternative<std::monostate>(job.outcome()));
    job.start([&] { finished.add(); });
    finished.wait();
    job.join();
    CHECK(right(job, expected));
    CHECK_EQUAL(job.gauge().bytes.load(), 5 * kBlock + 7);
    job.cancel();
    job.stop();
    CHECK(right(job, expected));
  }
  CHECK_EQUAL(finished.count(), 1U);
  CHECK(budget_is_free());
}

TEST("job: a failure is its outcome") {
  const TempFolder folder;
  Plan plan = plan_of(folder, 5);
  plan.files[0].path += "-missing";
  Tally finished;
  Job job(plan, kernel());
  job.start([&] { finished.add(); });
  finished.wait();
  CHECK(failed(job, Failure::Code::open));
  const auto& failure = std::get<Failure>(job.outcome());
  CHECK_EQUAL(failure.path, plan.files[0].path);
  CHECK_EQUAL(failure.error, ENOENT);
  CHECK(budget_is_free());
}

TEST("job: whatever is thrown before the threads start is its outcome, too") {
  const TempFolder folder;
  const auto outcome = [&](Failure::Code code, metainfo::Kernel row) {
    Tally finished;
    Job job(plan_of(folder, 5), row);
    job.start([&] { finished.add(); });
    finished.wait();
    return failed(job, code);
  };
  // The table of zero subtrees is the first thing to be hashed.
  CHECK(outcome(Failure::Code::no_memory, {"no memory", 0, 1, metainfo::openssl_sha1_many,
                                           [](metainfo::Sha256State*, const std::uint8_t* const*,
                                              std::size_t) { throw std::bad_alloc(); }}));
  CHECK(outcome(Failure::Code::internal, {"broken", 0, 1, metainfo::openssl_sha1_many,
                                          [](metainfo::Sha256State*, const std::uint8_t* const*,
                                             std::size_t) { throw std::runtime_error("broken"); }}));
  CHECK(budget_is_free());
}

TEST("job: cancelled while it runs") {
  const TempFolder folder;
  Tally finished;
  Held held;
  Job job(plan_of(folder, 5 * kBlock), held.kernel());
  held.watch(job);
  job.start([&] { finished.add(); });
  held.wait();
  CHECK_EQUAL(finished.count(), 0U);
  job.cancel();
  job.cancel();
  finished.wait();
  job.join();
  CHECK(failed(job, Failure::Code::aborted));
  CHECK_EQUAL(job.gauge().bytes.load(), kBlock);
  CHECK_EQUAL(finished.count(), 1U);
  CHECK(budget_is_free());
}

TEST("job: cancelled from another thread while it runs") {
  const TempFolder folder;
  Tally finished;
  Held held;
  Job job(plan_of(folder, 5 * kBlock), held.kernel());
  held.watch(job);
  job.start([&] { finished.add(); });
  std::thread other([&] {
    held.wait();
    job.cancel();
  });
  finished.wait();
  other.join();
  CHECK(failed(job, Failure::Code::aborted));
}

TEST("job: cancelled while it waits, it ends at once and never runs") {
  const TempFolder folder;
  Occupied occupied;
  Tally finished;
  Job job(plan_of(folder, 5), kernel());
  job.start([&] { finished.add(); });
  CHECK_EQUAL(finished.count(), 0U);
  job.cancel();
  CHECK_EQUAL(finished.count(), 1U);
  CHECK(failed(job, Failure::Code::aborted));
  job.cancel();
  occupied.release();
  job.join();
  CHECK_EQUAL(finished.count(), 1U);
  CHECK_EQUAL(job.gauge().bytes.load(), 0U);
  CHECK(budget_is_free());
}

TEST("job: one that waits runs when threads are free, with no more than it asked for") {
  const TempFolder folder;
  Occupied occupied;
  Tally finished;
  Plan plan = plan_of(folder, 5 * kBlock);
  Gauge gauge;
  const Digests expected = hash_plan(plan, kernel(), gauge);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < 4; ++i) {
    plan.threads = 1 + i;
    jobs.push_back(std::make_unique<Job>(plan, kernel()));
    jobs.back()->start([&] { finished.add(); });
  }
  CHECK_EQUAL(finished.count(), 0U);
  occupied.release();
  finished.wait(4);
  for (const auto& job : jobs) {
    job->join();
    CHECK(right(*job, expected));
  }
  CHECK(budget_is_free());
}

TEST("job: stopped in the middle") {
  const TempFolder folder;
  Tally finished;
  Held held;
  Job job(plan_of(folder, 5 * kBlock), held.kernel());
  held.watch(job);
  job.start([&] { finished.add(); });
  held.wait();
  job.stop();
  CHECK(failed(job, Failure::Code::aborted));
  CHECK_EQUAL(job.gauge().bytes.load(), kBlock);
  CHECK_EQUAL(finished.count(), 1U);
  CHECK(budget_is_free());
  job.stop();
  CHECK_EQUAL(finished.count(), 1U);
}

TEST("job: stopped while it waits, it says nothing") {
  const TempFolder folder;
  Occupied occupied;
  Tally finished;
  Job job(plan_of(folder, 5), kernel());
  job.start([&] { finished.add(); });
  job.stop();
  occupied.release();
  CHECK(budget_is_free());
  CHECK_EQUAL(finished.count(), 0U);
  CHECK(std::holds_alternative<std::monostate>(job.outcome()));
}

TEST("job: destroyed before its start, while it waits, and in the middle") {
  const TempFolder folder;
  Tally finished;
  const auto count = [&] { finished.add(); };
  { const Job job(plan_of(folder, 5), kernel()); }
  {
    Occupied occupied;
    Job job(plan_of(folder, 5), kernel());
    job.start(count);
  }
  CHECK_EQUAL(finished.count(), 0U);
  CHECK(budget_is_free());
  Held held;
  {
    Job job(plan_of(folder, 5 * kBlock), held.kernel());
    held.watch(job);
    job.start(count);
    held.wait();
  }
  CHECK_EQUAL(finished.count(), 1U);
  CHECK(budget_is_free());
}

TEST("job: cancelled before its start, it ends as cancelled") {
  const TempFolder folder;
  Tally finished;
  Job job(plan_of(folder, 5), kernel());
  job.cancel();
  CHECK_EQUAL(finished.count(), 0U);
  job.start([&] { finished.add(); });
  finished.wait();
  CHECK(failed(job, Failure::Code::aborted));
}

#ifdef __GLIBC__
TEST("job: without a thread to be had it fails, and gives back what it was granted") {
  const TempFolder folder;
  Tally finished;
  const auto count = [&] { finished.add(); };
  Occupied occupied;
  Job waiting(plan_of(folder, 5), kernel());
  waiting.start(count);
  Job next(plan_of(folder, 5), kernel());
  next.start(count);
  {
    const NoThreads none;
    occupied.release();
    CHECK_EQUAL(finished.count(), 2U);
    Job alone(plan_of(folder, 5), kernel());
    alone.start(count);
    CHECK_EQUAL(finished.count(), 3U);
    CHECK(failed(alone, Failure::Code::internal));
  }
  for (Job* job : {&waiting, &next}) {
    CHECK(failed(*job, Failure::Code::internal));
    CHECK_EQUAL(std::get<Failure>(job->outcome()).error, EAGAIN);
  }
  CHECK(budget_is_free());
}
#endif

TEST("job: two hundred at once, from several threads, a third of them cancelled") {
  const TempFolder folder;
  const Plan plan = plan_of(folder, 3 * 1024 * 1024 + 5);
  Gauge gauge;
  const Digests expected = hash_plan(plan, kernel(), gauge);
  std::atomic<unsigned> running{0};
  std::atomic<unsigned> most{0};
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> finished{0};
  // How many threads hash at one time, seen a few times in every job.
  const HookKernel counting([&] {
    const unsigned now = ++running;
    unsigned seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
    --running;
  });
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      std::vector<std::unique_ptr<Job>> jobs;
      Tally own;
      for (unsigned i = 0; i < 50; ++i) {
        Plan copy = plan;
        copy.threads = 1 + (id + i) % cores();
        jobs.push_back(std::make_unique<Job>(std::move(copy), counting.kernel()));
        jobs.back()->start([&] {
          ++finished;
          own.add();
        });
        if (i % 3 == 2) jobs[i - 1]->cancel();
      }
      own.wait(50);
      for (unsigned i = 0; i < 50; ++i) {
        jobs[i]->join();
        const bool cancelled = i % 3 == 1 && failed(*jobs[i], Failure::Code::aborted);
        if (!cancelled && !right(*jobs[i], expected)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0U);
  CHECK_EQUAL(finished.load(), 200U);
  CHECK(most <= cores());
  CHECK(budget_is_free());
}
