#include "core/threads/thread_pool.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "scale.h"
#include "test.h"
#include "threads.h"

using metainfo::ThreadPool;

namespace {

constexpr std::chrono::hours kForever(1);

// Runs a task and waits for its end. Its thread may not be parked yet.
std::thread::id run_one(ThreadPool& pool) {
  std::thread::id id;
  Tally done;
  pool.run([&] {
    id = std::this_thread::get_id();
    done.add();
  });
  done.wait();
  return id;
}

// Tasks that wait for each other: each needs a thread of its own.
void meet(ThreadPool& pool, unsigned tasks) {
  Tally met;
  Tally done;
  for (unsigned i = 0; i < tasks; ++i) {
    pool.run([&] {
      met.add();
      met.wait(tasks);
      done.add();
    });
  }
  done.wait(tasks);
}

// A task may end long before its thread is parked, if the system has much to do.
bool all_park(ThreadPool& pool) {
  return eventually([&] { return pool.parked() == pool.threads(); });
}

}  // namespace

TEST_CASE("ThreadPool: runs tasks one after the other on one thread, never on the caller's") {
  ThreadPool pool(kForever);
  REQUIRE_EQ(pool.threads(), 0U);
  std::set<std::thread::id> seen;
  for (unsigned i = 0; i < 1000; ++i) {
    seen.insert(run_one(pool));
    REQUIRE(all_park(pool));
  }
  REQUIRE_EQ(seen.count(std::this_thread::get_id()), 0U);
  REQUIRE_EQ(seen.size(), 1U);
  REQUIRE_EQ(pool.threads(), 1U);
}

TEST_CASE("ThreadPool: runs any number of tasks at once, and keeps their threads for the next ones") {
  ThreadPool pool(kForever);
  for (const unsigned tasks : {1U, 2U, 20U, 5U, 20U}) {
    meet(pool, tasks);
    REQUIRE(pool.threads() >= tasks);
    REQUIRE(all_park(pool));
  }
  REQUIRE_EQ(pool.threads(), 20U);
}

TEST_CASE("ThreadPool: ends threads that are idle, and starts new ones") {
  ThreadPool pool(std::chrono::milliseconds(10));
  for (unsigned round = 0; round < 3; ++round) {
    meet(pool, 5);
    REQUIRE(eventually([&] { return pool.threads() == 0; }));
  }
}

TEST_CASE("ThreadPool: end_parked() ends parked threads, and others after their task") {
  ThreadPool pool(kForever);
  Tally entered;
  Tally go;
  Tally done;
  pool.run([&] {
    entered.add();
    go.wait();
    done.add();
  });
  entered.wait();
  meet(pool, 5);
  REQUIRE(eventually([&] {
    pool.end_parked();
    return pool.threads() == 1;
  }));
  REQUIRE_EQ(done.count(), 0U);
  go.add();
  REQUIRE(eventually([&] { return pool.threads() == 0; }));
  REQUIRE_EQ(done.count(), 1U);
  // Threads park again after the next task.
  run_one(pool);
  REQUIRE_EQ(pool.threads(), 1U);
}

TEST_CASE("ThreadPool: destroys a task before its thread waits for the next one") {
  ThreadPool pool(kForever);
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owned;
  pool.run([owned] { static_cast<void>(owned); });
  owned.reset();
  REQUIRE(eventually([&] { return watched.expired(); }));
  REQUIRE_EQ(pool.threads(), 1U);
}

TEST_CASE("ThreadPool: a thread that is about to end its task does the first task that it runs next") {
  ThreadPool pool(kForever);
  ThreadPool other(kForever);
  std::thread::id id;
  std::thread::id next_id;
  bool ended = false;
  bool ended_before_next = false;
  Tally at_once;
  Tally next;
  const auto count = [&] { at_once.add(); };
  pool.run([&] {
    id = std::this_thread::get_id();
    pool.run(count);
    at_once.wait(1);
    pool.about_to_end();
    // The call does not concern other pools, and only one task waits for the thread.
    other.run(count);
    pool.run([&] {
      next_id = std::this_thread::get_id();
      ended_before_next = ended;
      // This task has not called about_to_end().
      pool.run(count);
      at_once.wait(4);
      next.add();
    });
    pool.run(count);
    at_once.wait(3);
    ended = true;
  });
  next.wait();
  REQUIRE(next_id == id);
  REQUIRE(ended_before_next);
  // Other threads do not belong to a pool.
  pool.about_to_end();
  run_one(pool);
}

TEST_CASE("ThreadPool: the destructor waits for tasks, but not for the idle time") {
  std::atomic<unsigned> ended{0};
  {
    ThreadPool pool(kForever);
    meet(pool, 5);
    for (unsigned i = 0; i < 5; ++i) {
      pool.run([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++ended;
      });
    }
  }
  REQUIRE_EQ(ended.load(), 5U);
}

TEST_CASE("ThreadPool: run_with_helpers() works on the caller's thread and all others, and waits for all") {
  ThreadPool pool(kForever);
  for (const std::size_t helpers : {0U, 1U, 7U}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    Tally met;
    std::atomic<std::size_t> ended{0};
    pool.run_with_helpers(helpers, [&] {
      met.add();
      met.wait(static_cast<unsigned>(helpers) + 1);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        seen.insert(std::this_thread::get_id());
      }
      ++ended;
    });
    REQUIRE_EQ(ended.load(), helpers + 1);
    REQUIRE_EQ(seen.size(), helpers + 1);
    REQUIRE_EQ(seen.count(std::this_thread::get_id()), 1U);
  }
}

TEST_CASE("ThreadPool: run_with_helpers() works inside tasks of the pool") {
  ThreadPool pool(kForever);
  std::atomic<unsigned> count{0};
  Tally done;
  for (unsigned i = 0; i < 8; ++i) {
    pool.run([&] {
      pool.run_with_helpers(3, [&] { ++count; });
      done.add();
    });
  }
  done.wait(8);
  REQUIRE_EQ(count.load(), 32U);
}

TEST_CASE("ThreadPool: loses no task when threads become idle while tasks arrive from several threads") {
  for (const int idle : {0, 1, 1000}) {
    ThreadPool pool{std::chrono::milliseconds(idle)};
    std::atomic<unsigned> count{0};
    std::vector<std::thread> callers;
    const unsigned tasks = 2000 / static_cast<unsigned>(thin());
    for (unsigned id = 0; id < 4; ++id) {
      callers.emplace_back([&, id] {
        for (unsigned i = 0; i < tasks; ++i) {
          Tally done;
          pool.run([&] {
            ++count;
            done.add();
          });
          if (i % 64 == id) std::this_thread::sleep_for(std::chrono::microseconds(900 + i));
          if (i % 100 == 0) pool.end_parked();
          done.wait();
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    REQUIRE_EQ(count.load(), 4 * tasks);
  }
}

#ifdef __GLIBC__
TEST_CASE("ThreadPool: without further threads, parked ones run tasks, and then run() fails") {
  ThreadPool pool(kForever);
  run_one(pool);
  const NoThreads none;
  Tally entered;
  Tally go;
  const auto hold = [&] {
    entered.add();
    go.wait();
  };
  // The thread may not be parked yet.
  REQUIRE(eventually([&] {
    try {
      pool.run(hold);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }));
  entered.wait();
  REQUIRE_THROWS_AS(pool.run(hold), std::system_error);
  REQUIRE_EQ(pool.threads(), 1U);
  unsigned calls = 0;
  pool.run_with_helpers(3, [&] { ++calls; });
  REQUIRE_EQ(calls, 1U);
  go.add();
}
#endif

TEST_CASE("ThreadPool: the process has one pool") {
  REQUIRE(&ThreadPool::process() == &ThreadPool::process());
}
