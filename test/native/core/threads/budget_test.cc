#include "core/threads/budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "scale.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = kMiB << 10;
constexpr std::uint64_t kTiB = kGiB << 10;
constexpr std::uint64_t kAmpleMemory = kTiB;

// A job without threads: the test plays its workers.
class Fake final : public Budget::Claim {
 public:
  explicit Fake(unsigned workers = 1, std::uint64_t memory_each = 0, std::vector<const Fake*>* log = nullptr)
      : log_(log) {
    wanted_workers = workers;
    memory = memory_each;
  }

  unsigned active = 0;
  unsigned started = 0;
  unsigned refused = 0;
  unsigned abandoned = 0;
  std::uint64_t served = 0;
  std::uint64_t left = 0;  // bytes left, for tests that play a job to its end
  bool gives = true;       // whether the system can start a thread

 private:
  bool start_worker() override {
    if (!gives) {
      ++refused;
      return false;
    }
    ++active;
    ++started;
    if (log_ != nullptr) log_->push_back(this);
    return true;
  }
  void abandon() override { ++abandoned; }

  std::vector<const Fake*>* log_;
};

// One worker ends. Returns true for the last one.
bool leave(Budget& budget, Fake& fake, bool exhausted = true) {
  // Counted before leave(), which may give the place to the same job again.
  --fake.active;
  return budget.leave(fake, exhausted);
}

// One worker has done a part. Returns true if it had to leave.
bool part(Budget& budget, Fake& fake, std::uint64_t bytes = kMiB) {
  fake.served += bytes;
  if (!budget.served(fake, bytes)) return false;
  REQUIRE(!leave(budget, fake, false));
  return true;
}

// All workers end.
void end(Budget& budget, Fake& fake) {
  while (fake.active > 1) REQUIRE(!leave(budget, fake));
  if (fake.active == 1) REQUIRE(leave(budget, fake));
}

using Active = std::vector<unsigned>;
template <typename... Fakes>
Active active(const Fakes&... fakes) {
  return {fakes.active...};
}

}  // namespace

TEST_CASE("Budget: a single job gets all the workers that it wants, up to the limit") {
  for (const unsigned wanted_workers : {1U, 3U, 4U, 5U, 100U}) {
    INFO(wanted_workers, " of 4");
    Budget budget({4, kAmpleMemory});
    Fake job(wanted_workers);
    budget.enter(job);
    REQUIRE_EQ(job.active, std::min(wanted_workers, 4U));
    REQUIRE(!part(budget, job, kTiB));
    end(budget, job);
    REQUIRE_EQ(job.started, std::min(wanted_workers, 4U));
    // All threads are free again.
    Fake next(wanted_workers);
    budget.enter(next);
    REQUIRE_EQ(next.active, std::min(wanted_workers, 4U));
    end(budget, next);
  }
}

TEST_CASE("Budget: all free threads are given out, to the jobs with the fewest workers") {
  Budget budget({4, kAmpleMemory});
  Fake a(2), b(1), c(3), d(1);
  for (Fake* job : {&a, &b, &c, &d}) budget.enter(*job);
  REQUIRE_EQ(active(a, b, c, d), Active({2, 1, 1, 0}));
  leave(budget, a);
  REQUIRE_EQ(active(a, b, c, d), Active({1, 1, 1, 1}));
  REQUIRE(leave(budget, a));
  REQUIRE_EQ(active(b, c, d), Active({1, 2, 1}));
  REQUIRE(leave(budget, b));
  REQUIRE_EQ(active(c, d), Active({3, 1}));
  REQUIRE(leave(budget, d));
  REQUIRE_EQ(active(c), Active({3}));
  end(budget, c);
}

TEST_CASE("Budget: equal jobs start in order of arrival and know their place in the queue") {
  Budget budget({1, kAmpleMemory});
  std::vector<const Fake*> log;
  Fake a(1, 0, &log), b(3, 0, &log), c(1, 0, &log), d(2, 0, &log);
  REQUIRE_EQ(budget.queued(a), 0U);
  for (Fake* job : {&a, &b, &c, &d}) budget.enter(*job);
  const auto places = [&] {
    return std::vector<std::size_t>{budget.queued(a), budget.queued(b), budget.queued(c), budget.queued(d)};
  };
  REQUIRE_EQ(places(), (std::vector<std::size_t>{0, 1, 2, 3}));
  REQUIRE(leave(budget, a));
  REQUIRE_EQ(places(), (std::vector<std::size_t>{0, 0, 1, 2}));
  REQUIRE(budget.withdraw(c));
  REQUIRE_EQ(places(), (std::vector<std::size_t>{0, 0, 0, 1}));
  REQUIRE(leave(budget, b));
  REQUIRE_EQ(places(), (std::vector<std::size_t>{0, 0, 0, 0}));
  REQUIRE(leave(budget, d));
  REQUIRE_EQ(log, (std::vector<const Fake*>{&a, &b, &d}));
}

TEST_CASE("Budget: a small job waits for at most one part of a huge job, which grows back afterwards") {
  for (const unsigned limit : {1U, 2U, 4U}) {
    INFO(limit, " threads");
    Budget budget({limit, kAmpleMemory});
    Fake huge(100);
    budget.enter(huge);
    for (unsigned i = 0; i < 1000; ++i) REQUIRE(!part(budget, huge, kGiB));
    REQUIRE_EQ(huge.active, limit);
    Fake small(1);
    budget.enter(small);
    REQUIRE_EQ(small.active, 0U);
    REQUIRE_EQ(budget.queued(small), 1U);
    REQUIRE(part(budget, huge, kGiB));
    REQUIRE_EQ(active(huge, small), Active({limit - 1, 1}));
    // Now both have the same: neither loses another worker.
    for (unsigned i = 0; i < 10 && huge.active != 0; ++i) REQUIRE(!part(budget, huge, kGiB));
    REQUIRE(!part(budget, small, kMiB));
    REQUIRE(leave(budget, small));
    REQUIRE_EQ(huge.active, limit);
    REQUIRE_EQ(huge.started, limit + 1);
    end(budget, huge);
  }
}

TEST_CASE("Budget: a later job gets its half of the threads, one after each part") {
  Budget budget({4, kAmpleMemory});
  Fake huge(4), late(4);
  budget.enter(huge);
  budget.enter(late);
  REQUIRE(part(budget, huge));
  REQUIRE_EQ(active(huge, late), Active({3, 1}));
  REQUIRE(part(budget, huge));
  REQUIRE_EQ(active(huge, late), Active({2, 2}));
  for (unsigned i = 0; i < 20; ++i) REQUIRE(!part(budget, i % 2 == 0 ? huge : late, kGiB));
  // A third job takes one worker from each, then none.
  Fake third(4);
  budget.enter(third);
  REQUIRE(part(budget, late));
  REQUIRE_EQ(active(huge, late, third), Active({2, 1, 1}));
  REQUIRE(!part(budget, huge));
  end(budget, huge);
  REQUIRE_EQ(late.active + third.active, 4U);
  REQUIRE_EQ(late.active, 2U);
  end(budget, late);
  REQUIRE_EQ(third.active, 4U);
  end(budget, third);
}

TEST_CASE("Budget: equal jobs share the threads and advance at the same rate") {
  for (const unsigned limit : {1U, 2U, 3U, 4U}) {
    for (const unsigned count : {2U, 3U, 5U, 8U}) {
      INFO(count, " jobs, ", limit, " threads");
      Budget budget({limit, kAmpleMemory});
      std::vector<std::unique_ptr<Fake>> jobs;
      for (unsigned i = 0; i < count; ++i) {
        jobs.push_back(std::make_unique<Fake>(limit));
        budget.enter(*jobs.back());
      }
      // Each worker in turn does a part.
      unsigned changes = 0;
      for (unsigned turn = 0; turn < 4000; ++turn) {
        for (const auto& job : jobs) {
          for (unsigned workers = job->active; workers != 0 && job->active != 0; --workers)
            changes += part(budget, *job, 4 * kMiB);
        }
        unsigned sum = 0;
        for (const auto& job : jobs) sum += job->active;
        REQUIRE_EQ(sum, limit);
      }
      const auto [least, most] = std::minmax_element(
          jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->served < b->served; });
      // Steps double, so the last step may be half of all bytes.
      if (count > limit) {
        REQUIRE((*most)->served <= 2 * (*least)->served + 128 * kMiB);
        REQUIRE(changes < 40 * count);
      } else {
        REQUIRE((*most)->served <= 2 * (*least)->served + 64 * kMiB);
        REQUIRE(changes <= limit);
      }
      for (const auto& job : jobs) budget.withdraw(*job);
      for (const auto& job : jobs) end(budget, *job);
    }
  }
}

TEST_CASE("Budget: of the jobs without a worker, the one that was served least goes first") {
  Budget budget({1, kAmpleMemory});
  std::vector<const Fake*> log;
  Fake a(1, 0, &log), b(1, 0, &log), c(1, 0, &log), d(1, 0, &log);
  budget.enter(a);
  REQUIRE(!part(budget, a, 300 * kMiB));
  budget.enter(b);
  REQUIRE(part(budget, a, kMiB));
  REQUIRE(!part(budget, b, 100 * kMiB));
  budget.enter(c);
  REQUIRE(part(budget, b, kMiB));
  REQUIRE_EQ(budget.queued(a), 2U);
  REQUIRE_EQ(budget.queued(b), 1U);
  budget.enter(d);
  REQUIRE_EQ(budget.queued(d), 1U);
  REQUIRE_EQ(budget.queued(a), 3U);
  for (Fake* job : {&c, &d, &b, &a}) REQUIRE(leave(budget, *job));
  REQUIRE_EQ(log, (std::vector<const Fake*>{&a, &b, &c, &d, &b, &a}));
}

TEST_CASE("Budget: served bytes count in steps that double from 64 MiB") {
  // A job that has been served `before` bytes gives way to one with `other` bytes exactly if that is a lower
  // step.
  const auto gives_way = [](std::uint64_t before, std::uint64_t other) {
    Budget budget({1, kAmpleMemory});
    Fake first(1), second(1);
    budget.enter(first);
    budget.served(first, other);
    budget.enter(second);
    // The second job gets the place while the first waits with its served bytes.
    leave(budget, first, false);
    if (second.active == 0) {
      // The first job got it again, because it was not served more.
      REQUIRE_EQ(first.active, 1U);
      REQUIRE(budget.withdraw(second));
      end(budget, first);
      return false;
    }
    const bool must = budget.served(second, before);
    end(budget, second);
    if (first.active == 1) end(budget, first);
    return must;
  };
  constexpr std::uint64_t kStep = 64 * kMiB;
  REQUIRE(!gives_way(kStep, kStep));
  REQUIRE(!gives_way(2 * kStep - 1, kStep));
  REQUIRE(gives_way(2 * kStep, kStep));
  REQUIRE(!gives_way(2 * kStep, 2 * kStep));
  REQUIRE(!gives_way(4 * kStep - 1, 2 * kStep));
  REQUIRE(gives_way(4 * kStep, 2 * kStep));
  REQUIRE(gives_way(4 * kStep, 4 * kStep - 1));
  REQUIRE(!gives_way(8 * kStep - 1, 4 * kStep));
  REQUIRE(gives_way(8 * kStep, 8 * kStep - 1));
  // The first step: zero bytes and less than 64 MiB count the same.
  Budget budget({1, kAmpleMemory});
  Fake running(1), fresh(1);
  budget.enter(running);
  budget.enter(fresh);
  REQUIRE(!part(budget, running, kStep - 1));
  REQUIRE(part(budget, running, 1));
  REQUIRE_EQ(active(running, fresh), Active({0, 1}));
  end(budget, fresh);
  end(budget, running);
}

TEST_CASE("Budget: a waiting job is passed over at most sixteen times") {
  Budget budget({1, kAmpleMemory});
  Fake patient(1), first(1);
  budget.enter(patient);
  part(budget, patient, kTiB);
  budget.enter(first);
  REQUIRE(part(budget, patient, kMiB));
  REQUIRE_EQ(active(patient, first), Active({0, 1}));
  // An endless sequence of new jobs, none of which has been served.
  std::unique_ptr<Fake> running;
  unsigned others = 1;
  Fake* now = &first;
  for (; patient.active == 0 && others < 100; ++others) {
    auto next = std::make_unique<Fake>(1);
    budget.enter(*next);
    REQUIRE_EQ(budget.queued(patient), others == 16 ? 1U : 2U);
    REQUIRE(leave(budget, *now));
    if (patient.active == 1) {
      REQUIRE(budget.withdraw(*next));
      break;
    }
    REQUIRE_EQ(next->active, 1U);
    running = std::move(next);
    now = running.get();
  }
  REQUIRE_EQ(others, 16U);
  // Afterwards its count starts again: another job does not wait longer than before.
  REQUIRE_EQ(patient.active, 1U);
  Fake later(1);
  budget.enter(later);
  REQUIRE(part(budget, patient, kMiB));
  REQUIRE_EQ(active(patient, later), Active({0, 1}));
  end(budget, later);
  end(budget, patient);
}

TEST_CASE("Budget: memory stays within the limit, except for a single worker") {
  Budget budget({8, 100});
  Fake a(8, 30);
  budget.enter(a);
  REQUIRE_EQ(a.active, 3U);
  // Ten bytes are left. A smaller job that is next gets them; a larger one makes the jobs after it wait.
  Fake b(8, 10);
  budget.enter(b);
  REQUIRE_EQ(active(a, b), Active({3, 1}));
  Fake large(1, 101), c(1, 1);
  REQUIRE(leave(budget, b));
  budget.enter(large);
  budget.enter(c);
  REQUIRE_EQ(active(a, large, c), Active({3, 0, 0}));
  REQUIRE(part(budget, a));
  REQUIRE(part(budget, a));
  REQUIRE_EQ(active(a, large, c), Active({1, 0, 0}));
  // Both are in the first step: the large job waits until the other ends or has been served 64 MiB.
  REQUIRE(!part(budget, a));
  REQUIRE(part(budget, a, 64 * kMiB));
  REQUIRE_EQ(active(a, large, c), Active({0, 1, 0}));
  // As the only job, it need not leave although it exceeds the limit.
  REQUIRE(!budget.served(large, kMiB));
  REQUIRE(leave(budget, large));
  REQUIRE_EQ(active(a, c), Active({3, 1}));
  end(budget, c);
  end(budget, a);
}

TEST_CASE("Budget: a job that lacks memory to grow does not hold up other jobs") {
  Budget budget({8, 7});
  Fake large(4, 3), small(8, 0);
  budget.enter(large);
  REQUIRE_EQ(large.active, 2U);
  budget.enter(small);
  REQUIRE_EQ(active(large, small), Active({2, 6}));
  // The small job does not leave only to come back.
  for (unsigned i = 0; i < 100; ++i) part(budget, small);
  REQUIRE_EQ(active(large, small), Active({2, 6}));
  REQUIRE_EQ(small.started, 6U);
  // A job without a worker does hold up others.
  Fake next(1, 6);
  budget.enter(next);
  REQUIRE(part(budget, small));
  REQUIRE_EQ(active(large, small, next), Active({2, 5, 0}));
  end(budget, large);
  REQUIRE_EQ(active(small, next), Active({7, 1}));
  end(budget, next);
  end(budget, small);
}

TEST_CASE("Budget: tells how much of it is in use, and how many jobs wait") {
  Budget budget({2, kAmpleMemory});
  const auto usage = [&] {
    const Budget::Usage now = budget.usage();
    return std::tuple{now.threads, now.memory, now.waiting};
  };
  REQUIRE(usage() == std::tuple{0U, std::uint64_t{0}, std::size_t{0}});
  Fake a(4, 10), b(1, 7), c(1, 7);
  budget.enter(a);
  // It wants more workers, but it does not wait.
  REQUIRE(usage() == std::tuple{2U, std::uint64_t{20}, std::size_t{0}});
  budget.enter(b);
  budget.enter(c);
  REQUIRE(usage() == std::tuple{2U, std::uint64_t{20}, std::size_t{2}});
  part(budget, a);
  REQUIRE(usage() == std::tuple{2U, std::uint64_t{17}, std::size_t{1}});
  REQUIRE(budget.withdraw(c));
  REQUIRE(std::get<2>(usage()) == 0);
  end(budget, a);
  end(budget, b);
  REQUIRE(usage() == std::tuple{0U, std::uint64_t{0}, std::size_t{0}});
}

TEST_CASE("Budget: limits can change while jobs run") {
  Budget budget({1, 100});
  Fake a(4, 10), b(4, 10);
  budget.enter(a);
  budget.enter(b);
  REQUIRE_EQ(active(a, b), Active({1, 0}));
  budget.set_limits({6, 100});
  REQUIRE_EQ(budget.limits().threads, 6U);
  REQUIRE_EQ(budget.limits().memory, 100U);
  REQUIRE_EQ(active(a, b), Active({3, 3}));
  budget.set_limits({2, 100});
  // No worker is stopped: after their parts, exactly the surplus workers leave.
  REQUIRE_EQ(active(a, b), Active({3, 3}));
  for (unsigned i = 0; i < 20; ++i) {
    if (a.active != 0) part(budget, a);
    if (b.active != 0) part(budget, b);
    REQUIRE(a.active + b.active >= 2);
  }
  REQUIRE_EQ(active(a, b), Active({1, 1}));
  budget.set_limits({8, 35});
  REQUIRE_EQ(a.active + b.active, 3U);
  budget.set_limits({8, 15});
  for (unsigned i = 0; i < 20; ++i) {
    if (a.active != 0) part(budget, a);
    if (b.active != 0) part(budget, b);
  }
  REQUIRE_EQ(a.active + b.active, 1U);
  // A limit below the need of one worker: one worker runs alone.
  budget.set_limits({8, 5});
  for (unsigned i = 0; i < 20; ++i) {
    if (a.active != 0) part(budget, a);
    if (b.active != 0) part(budget, b);
    REQUIRE_EQ(a.active + b.active, 1U);
  }
  budget.set_limits({8, 1000});
  REQUIRE_EQ(active(a, b), Active({4, 4}));
  end(budget, a);
  end(budget, b);
}

TEST_CASE("Budget: a job can be withdrawn before it enters, while it waits or runs, and after its end") {
  Budget budget({1, kAmpleMemory});
  Fake never(1), running(1), waiting(1), next(1);
  REQUIRE(!budget.withdraw(never));
  budget.enter(running);
  budget.enter(waiting);
  budget.enter(next);
  REQUIRE(budget.withdraw(waiting));
  REQUIRE(!budget.withdraw(waiting));
  // Its worker must end the claim.
  REQUIRE(!budget.withdraw(running));
  REQUIRE(!budget.withdraw(running));
  REQUIRE(leave(budget, running, false));
  REQUIRE(!budget.withdraw(running));
  REQUIRE_EQ(active(running, waiting, next), Active({0, 0, 1}));
  REQUIRE(leave(budget, next));
  REQUIRE_EQ(waiting.started, 0U);
  // The last of several workers ends it, and no new workers start.
  budget.set_limits({4, kAmpleMemory});
  Fake many(4);
  budget.enter(many);
  REQUIRE(!budget.withdraw(many));
  for (unsigned i = 0; i < 3; ++i) REQUIRE(!leave(budget, many, false));
  REQUIRE(leave(budget, many, false));
  REQUIRE_EQ(many.started, 4U);
  // A job that left its place has no worker when it is withdrawn.
  budget.set_limits({1, kAmpleMemory});
  Fake paused(1), other(1);
  budget.enter(paused);
  part(budget, paused, kGiB);
  budget.enter(other);
  REQUIRE(part(budget, paused));
  REQUIRE_EQ(active(paused, other), Active({0, 1}));
  REQUIRE_EQ(budget.queued(paused), 1U);
  REQUIRE(budget.withdraw(paused));
  REQUIRE(leave(budget, other));
  REQUIRE_EQ(paused.started, 1U);
}

TEST_CASE("Budget: raise() gives a job more workers, as far as threads are free") {
  Budget budget({4, kAmpleMemory});
  Fake job(1);
  budget.enter(job);
  budget.raise(job, 3);
  REQUIRE_EQ(job.active, 3U);
  budget.raise(job, 8);
  REQUIRE_EQ(job.active, 4U);
  // The other jobs keep their share.
  Fake late(1);
  budget.enter(late);
  REQUIRE(part(budget, job));
  budget.raise(late, 8);
  REQUIRE_EQ(active(job, late), Active({3, 1}));
  REQUIRE(part(budget, job));
  REQUIRE_EQ(active(job, late), Active({2, 2}));
  REQUIRE(!part(budget, job, kGiB));
  end(budget, job);
  REQUIRE_EQ(late.active, 4U);
  end(budget, late);
}

TEST_CASE("Budget: raise() wakes no job that has no part left or was withdrawn") {
  Budget budget({4, kAmpleMemory});
  Fake exhausted(2), withdrawn(1);
  budget.enter(exhausted);
  REQUIRE(!leave(budget, exhausted));
  budget.raise(exhausted, 8);
  REQUIRE_EQ(exhausted.active, 1U);
  REQUIRE(leave(budget, exhausted));
  budget.enter(withdrawn);
  REQUIRE(!budget.withdraw(withdrawn));
  budget.raise(withdrawn, 8);
  REQUIRE_EQ(withdrawn.active, 1U);
  REQUIRE(leave(budget, withdrawn));
  Fake next(8);
  budget.enter(next);
  REQUIRE_EQ(next.active, 4U);
  end(budget, next);
}

TEST_CASE("Budget: raise() keeps the workers that run if the system starts no thread") {
  Budget budget({4, kAmpleMemory});
  Fake job(1);
  budget.enter(job);
  job.gives = false;
  budget.raise(job, 8);
  REQUIRE_EQ(active(job), Active({1}));
  REQUIRE_EQ(job.refused, 1U);
  REQUIRE_EQ(job.abandoned, 0U);
  // The job may ask again.
  job.gives = true;
  budget.raise(job, 2);
  REQUIRE_EQ(active(job), Active({2}));
  end(budget, job);
}

TEST_CASE("Budget: a claim may enter again after it was removed") {
  Budget budget({2, kAmpleMemory});
  Fake job(2);
  budget.enter(job);
  end(budget, job);
  job.wanted_workers = 2;
  budget.enter(job);
  REQUIRE_EQ(job.active, 2U);
  end(budget, job);
}

TEST_CASE("Budget: if the system starts no thread, a job is abandoned once and its place is free") {
  Budget budget({2, kAmpleMemory});
  Fake a(2), b(2), c(2);
  a.gives = false;
  budget.enter(a);
  REQUIRE_EQ(a.abandoned, 1U);
  REQUIRE_EQ(a.refused, 1U);
  REQUIRE(!budget.withdraw(a));
  REQUIRE_EQ(budget.queued(a), 0U);
  budget.enter(b);
  REQUIRE_EQ(b.active, 2U);
  // When a place is free, two waiting jobs are abandoned and the third gets it.
  Fake d(1), e(1);
  d.gives = e.gives = false;
  budget.enter(d);
  budget.enter(e);
  budget.enter(c);
  REQUIRE_EQ(d.abandoned + e.abandoned, 0U);
  leave(budget, b);
  REQUIRE_EQ(active(b, c), Active({1, 1}));
  REQUIRE_EQ(d.abandoned, 1U);
  REQUIRE_EQ(e.abandoned, 1U);
  REQUIRE(leave(budget, b));
  end(budget, c);
}

TEST_CASE("Budget: if the system starts only some threads, they do the whole job") {
  Budget budget({1, kAmpleMemory});
  Fake job(4);
  budget.enter(job);
  job.gives = false;
  budget.set_limits({4, kAmpleMemory});
  REQUIRE_EQ(active(job), Active({1}));
  REQUIRE_EQ(job.refused, 1U);
  REQUIRE_EQ(job.abandoned, 0U);
  REQUIRE(!part(budget, job, kTiB));
  // The budget does not ask it for more workers, and it does not hold up others.
  Fake other(3);
  budget.enter(other);
  REQUIRE_EQ(active(job, other), Active({1, 3}));
  REQUIRE_EQ(job.refused, 1U);
  end(budget, other);
  REQUIRE(leave(budget, job));
}

TEST_CASE("Budget: a job that left its place is abandoned if no thread can be started for it again") {
  Budget budget({1, kAmpleMemory});
  Fake job(1), other(1);
  budget.enter(job);
  part(budget, job, kGiB);
  budget.enter(other);
  REQUIRE(part(budget, job));
  job.gives = false;
  REQUIRE(leave(budget, other));
  REQUIRE_EQ(job.abandoned, 1U);
  REQUIRE_EQ(job.active, 0U);
}

TEST_CASE("Budget: withdraw() returns false for a job that has started") {
  class Slow final : public Budget::Claim {
   public:
    Slow() { wanted_workers = 1; }
    Tally entered;
    bool returned = false;  // guarded by the budget's lock, which withdraw() takes

   private:
    bool start_worker() override {
      entered.add();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return returned = true;
    }
    void abandon() override {}
  };
  Budget budget({1, kAmpleMemory});
  Fake running(1);
  Slow waiting;
  budget.enter(running);
  budget.enter(waiting);
  std::thread releasing([&] { budget.leave(running, true); });
  waiting.entered.wait();
  const bool withdrawn = budget.withdraw(waiting);
  const bool seen = waiting.returned;
  releasing.join();
  REQUIRE(!withdrawn);
  REQUIRE(seen);
  REQUIRE(budget.leave(waiting, true));
}

TEST_CASE("Budget: in random sequences, limits hold, no thread idles and all jobs end") {
  for (unsigned seed = 1; seed <= 40 / thin(); ++seed) {
    INFO("seed ", seed);
    std::minstd_rand random(seed);
    const auto below = [&random](std::uint64_t limit) { return random() / 8 % limit; };
    Budget::Limits limits = {1 + static_cast<unsigned>(below(5)), kAmpleMemory};
    Budget budget(limits);
    // With a memory limit, a job that is next may wait although threads are free.
    const bool tight = seed % 2 == 0;
    if (tight) budget.set_limits(limits = {limits.threads, 50 + below(100)});
    std::vector<std::unique_ptr<Fake>> jobs;
    std::size_t alive = 0;
    bool shrunk = false;
    unsigned done = 0;
    for (unsigned turn = 0; turn < 3000 || alive != 0; ++turn) {
      REQUIRE(turn < 100000);
      if (turn < 3000 && below(20) == 0 && alive < 30) {
        jobs.push_back(std::make_unique<Fake>(1 + below(6), tight ? below(120) : 0));
        jobs.back()->left = below(10) == 0 ? 5 * kGiB : below(200 * kMiB);
        budget.enter(*jobs.back());
      }
      if (below(200) == 0) {
        const Budget::Limits now = {1 + static_cast<unsigned>(below(5)),
                                    tight ? 50 + below(100) : kAmpleMemory};
        shrunk = shrunk || now.threads < limits.threads || now.memory < limits.memory;
        budget.set_limits(limits = now);
      }
      unsigned threads = 0;
      std::uint64_t memory = 0;
      bool waits = false;
      alive = 0;
      for (const auto& job : jobs) {
        threads += job->active;
        memory += job->active * job->memory;
        const bool here = job->active != 0 || budget.queued(*job) != 0;
        alive += here;
        waits = waits || (here && job->active < job->wanted_workers);
        REQUIRE_EQ(job->abandoned, 0U);
      }
      if (threads <= limits.threads && (threads <= 1 || memory <= limits.memory)) shrunk = false;
      if (!shrunk) REQUIRE((threads <= limits.threads && (threads <= 1 || memory <= limits.memory)));
      if (!tight && waits) REQUIRE(threads >= limits.threads);
      if (alive != 0) REQUIRE(threads != 0);
      if (alive == 0) continue;
      // A random worker has done a part.
      std::vector<Fake*> workers;
      for (const auto& job : jobs) workers.insert(workers.end(), job->active, job.get());
      Fake& job = *workers[below(workers.size())];
      if (below(500) == 0) {
        REQUIRE(!budget.withdraw(job));
        job.left = 0;
      }
      const std::uint64_t bytes = std::min<std::uint64_t>(job.left, 1 + below(32 * kMiB));
      job.left -= bytes;
      if (job.left != 0) {
        part(budget, job, bytes);
      } else if (leave(budget, job)) {
        REQUIRE_EQ(job.active, 0U);
        ++done;
      }
    }
    REQUIRE(done > 20);
    Fake last(limits.threads);
    budget.enter(last);
    REQUIRE_EQ(last.active, limits.threads);
    end(budget, last);
  }
}

namespace {

// The threads and memory that all jobs of the test below use. A thread adds itself after the budget has
// counted it and subtracts itself before it leaves the budget, so these sums never exceed those of the
// budget.
struct Held {
  std::atomic<unsigned> threads{0};
  std::atomic<std::uint64_t> memory{0};
  std::atomic<unsigned> wrong{0};
  unsigned most_threads;
  std::uint64_t most_memory;
};

// A job with real threads that count down the parts that are left.
class Busy final : public Budget::Claim {
 public:
  Busy(Budget& budget, Held& held, unsigned workers, std::uint64_t memory_each, std::int64_t parts)
      : budget_(budget), held_(held), left_(parts) {
    wanted_workers = workers;
    memory = memory_each;
  }
  ~Busy() override { join(); }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  Tally finished;

 private:
  bool start_worker() override {
    const unsigned threads = ++held_.threads;
    const std::uint64_t bytes = held_.memory += memory;
    if (threads > held_.most_threads || (threads > 1 && bytes > held_.most_memory)) ++held_.wrong;
    threads_.emplace_back([this] { run(); });
    return true;
  }
  void abandon() override { ++held_.wrong; }

  void run() {
    bool exhausted = true;
    while (const std::int64_t left = left_--) {
      if (left < 0) break;
      // Not after every part: on a busy machine, a yield takes milliseconds.
      if (left % 16 == 0) std::this_thread::yield();
      if (!budget_.served(*this, kMiB * 8)) continue;
      exhausted = false;
      break;
    }
    held_.memory -= memory;
    --held_.threads;
    if (budget_.leave(*this, exhausted)) finished.add();
  }

  Budget& budget_;
  Held& held_;
  std::atomic<std::int64_t> left_;
  std::vector<std::thread> threads_;  // guarded by the budget's lock
};

}  // namespace

TEST_CASE("Budget: hundreds of jobs with real threads all end") {
  Budget budget({3, 100});
  Held held;
  held.most_threads = 3;
  held.most_memory = 100;
  std::atomic<unsigned> finished{0};
  std::atomic<unsigned> withdrawn{0};
  std::vector<std::thread> clients;
  constexpr unsigned kJobs = 100;
  for (unsigned id = 0; id < 4; ++id) {
    clients.emplace_back([&, id] {
      std::minstd_rand random(id + 1);
      std::vector<std::unique_ptr<Busy>> jobs;
      for (unsigned i = 0; i < kJobs / thin(); ++i) {
        jobs.push_back(std::make_unique<Busy>(budget, held, 1 + random() % 4, random() % 120, random() % 60));
        budget.enter(*jobs.back());
        if (i % 7 == 3 && budget.withdraw(*jobs[i - 1])) {
          ++withdrawn;
          jobs[i - 1].reset();
        }
      }
      for (const auto& job : jobs) {
        if (job == nullptr) continue;
        job->finished.wait();
        job->join();
        finished += job->finished.count();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  REQUIRE_EQ(held.wrong.load(), 0U);
  REQUIRE_EQ(held.threads.load(), 0U);
  REQUIRE_EQ(finished + withdrawn, 4 * (kJobs / static_cast<unsigned>(thin())));
  Fake last(3);
  budget.enter(last);
  REQUIRE_EQ(last.active, 3U);
  end(budget, last);
}

TEST_CASE("Budget: the process has one thread per core with 64 MiB each") {
  Budget& budget = Budget::process();
  REQUIRE(&budget == &Budget::process());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  REQUIRE_EQ(budget.limits().threads, cores);
  REQUIRE_EQ(budget.limits().memory, cores * 64 * kMiB);
  Fake job(cores + 1), waiting(1);
  budget.enter(job);
  budget.enter(waiting);
  REQUIRE_EQ(active(job, waiting), Active({cores, 0}));
  REQUIRE(budget.withdraw(waiting));
  end(budget, job);
}
