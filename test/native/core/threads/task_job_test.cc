#include "core/threads/task_job.h"

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>

#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::Failure;
using metainfo::TaskJob;

namespace {

constexpr std::uint64_t kAmpleMemory = std::uint64_t{1} << 40;

std::optional<Failure> run(TaskJob::Task task) {
  Budget budget({1, kAmpleMemory});
  TaskJob job(std::move(task), budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  REQUIRE_EQ(finished.count(), 1U);
  return job.failure();
}

}  // namespace

TEST_CASE("TaskJob: runs its function once, on another thread") {
  std::atomic<int> calls{0};
  std::thread::id thread;
  REQUIRE(!run([&](const std::atomic<bool>& cancelled) {
    REQUIRE(!cancelled);
    thread = std::this_thread::get_id();
    ++calls;
  }));
  REQUIRE_EQ(calls.load(), 1);
  REQUIRE(thread != std::this_thread::get_id());
}

TEST_CASE("TaskJob: keeps what its function throws") {
  const auto no_memory = run([](const std::atomic<bool>&) { throw std::bad_alloc(); });
  REQUIRE(no_memory);
  REQUIRE(no_memory->code == Failure::Code::no_memory);
  const auto other = run([](const std::atomic<bool>&) { throw std::runtime_error("why"); });
  REQUIRE(other);
  REQUIRE(other->code == Failure::Code::internal);
  REQUIRE_EQ(other->detail, "why");
}

TEST_CASE("TaskJob: tells its function that it is cancelled") {
  Budget budget({1, kAmpleMemory});
  Tally started;
  TaskJob job(
      [&](const std::atomic<bool>& cancelled) {
        started.add();
        while (!cancelled) std::this_thread::yield();
      },
      budget);
  Tally finished;
  job.start([&] { finished.add(); });
  started.wait();
  job.cancel();
  finished.wait();
  job.join();
  REQUIRE(job.failure());
  REQUIRE(job.failure()->code == Failure::Code::aborted);
}
