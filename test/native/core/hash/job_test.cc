#include "core/hash/job.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "files.h"
#include "hook_kernel.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "plans.h"
#include "scale.h"
#include "test.h"
#include "threads.h"

using metainfo::Budget;
using metainfo::Digests;
using metainfo::Failure;
using metainfo::HashRequest;
using metainfo::Job;
using metainfo::Progress;
using metainfo::Version;
using requests::kBlock;
using requests::kMiB;

namespace {

constexpr std::uint64_t kAmpleMemory = std::uint64_t{1} << 40;

// Occupies as many places of a budget as it gets, until it is destroyed.
class Occupied final : private Budget::Claim {
 public:
  explicit Occupied(Budget& budget, unsigned places = std::numeric_limits<unsigned>::max())
      : budget_(budget) {
    wanted_workers = places;
    budget_.enter(*this);
  }
  ~Occupied() override { release(); }

  void release() {
    // After this, no new place is given to it.
    budget_.withdraw(*this);
    for (unsigned places = places_.exchange(0); places != 0; --places) budget_.leave(*this, true);
  }
  unsigned places() const { return places_; }

 private:
  bool start_worker() override {
    ++places_;
    return true;
  }
  void abandon() override {}

  Budget& budget_;
  std::atomic<unsigned> places_{0};
};

// Whether no job has a place in the budget.
bool is_free(Budget& budget) { return Occupied(budget).places() == budget.limits().threads; }

// A request with one read in memory, so that a job can be held in the middle.
HashRequest request_of(const TempFolder& folder, std::size_t size) {
  HashRequest request =
      requests::request_of({folder.add("file", oracle::content(size, 1))}, Version::v1, kBlock);
  return requests::narrow(request);
}

bool right(Job& job, const requests::Expected& expected) {
  const auto* digests = std::get_if<Digests>(&job.outcome());
  return digests != nullptr && digests->v1 == expected.digests.v1 &&
         digests->roots == expected.digests.roots && digests->layers == expected.digests.layers;
}

bool failed(Job& job, Failure::Code code) {
  const auto* failure = std::get_if<Failure>(&job.outcome());
  return failure != nullptr && failure->code == code;
}

// A kernel that holds its job in the first piece until the job is cancelled.
class Held {
 public:
  void watch(const Job& job) { progress_ = &job.progress(); }
  void wait(unsigned threads = 1) { entered_.wait(threads); }
  unsigned count() { return entered_.count(); }
  static metainfo::Kernels kernels() { return HookKernel::kernels(); }

 private:
  const Progress* progress_ = nullptr;
  Tally entered_;
  HookKernel hook_{[this] {
    entered_.add();
    while (!progress_->cancelled) std::this_thread::yield();
  }};
};

// Pad files whose parts take a moment each and no memory: more parts than any test waits for.
HashRequest endless() {
  HashRequest request = requests::request_of({requests::pad(std::uint64_t{1} << 40)}, Version::v1, 4 * kMiB);
  return requests::narrow(request);
}
void moment() {
#ifdef _WIN32
  // Windows rounds shorter times down to zero.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
#else
  std::this_thread::sleep_for(std::chrono::microseconds(50));
#endif
}

// A job that has left its only place to another job.
struct Paused {
  explicit Paused(HashRequest request = endless()) : job(std::move(request), HookKernel::kernels(), budget) {
    job.start([this] { finished.add(); });
    // Wait until it has been served enough to give way.
    REQUIRE(eventually([&] { return calls > 400; }));
    other = std::make_unique<Occupied>(budget, 1);
    REQUIRE(eventually([&] { return other->places() == 1; }));
    REQUIRE_EQ(job.queued(), 1U);
    REQUIRE_EQ(finished.count(), 0U);
  }

  std::atomic<unsigned> calls{0};
  HookKernel hook{[this] {
    ++calls;
    moment();
  }};
  Budget budget{{1, kAmpleMemory}};
  Tally finished;
  std::unique_ptr<Occupied> other;
  Job job;
};

#ifdef __linux__
// Requires that no more threads exist than when it was constructed, apart from parked ones.
class NoneLeft {
 public:
  void check() const {
    REQUIRE(end_parked_threads());
    REQUIRE(eventually([this] { return threads_alive() <= before_; }));
  }

 private:
  // Sanitizers start a thread of their own together with the first thread.
  std::size_t before_ = [] {
    REQUIRE(end_parked_threads());
    std::thread([] {}).join();
    return threads_alive();
  }();
};
#else
struct NoneLeft {
  void check() const {}
};
#endif

}  // namespace

TEST_CASE("Job: hashes many files, which its workers lay out") {
  for (const Version version : requests::kVersions) {
    INFO(requests::name_of(version));
    HashRequest request = requests::request_of(
        std::vector<metainfo::RequestedFile>(20000, requests::pad(100)), version, kBlock);
    request.threads = 3;
    requests::check_result(requests::run_as_job(request, best()), requests::expect(request));
  }
}

TEST_CASE("Job: ends once, with the digests of its request") {
  const TempFolder folder;
  const NoneLeft none;
  for (const Version version : requests::kVersions) {
    HashRequest request = request_of(folder, 5 * kBlock + 7);
    request.version = version;
    const requests::Expected expected = requests::expect(request);
    Budget budget({2, kAmpleMemory});
    Tally finished;
    {
      Job job(request, best(), budget);
      REQUIRE(std::holds_alternative<std::monostate>(job.outcome()));
      REQUIRE(job.version() == version);
      job.start([&] { finished.add(); });
      finished.wait();
      job.join();
      REQUIRE(right(job, expected));
      REQUIRE_EQ(job.progress().bytes.load(), 5 * kBlock + 7);
      REQUIRE_EQ(job.queued(), 0U);
      job.cancel();
      job.stop();
      REQUIRE(right(job, expected));
    }
    REQUIRE_EQ(finished.count(), 1U);
    REQUIRE(is_free(budget));
  }
  none.check();
}

TEST_CASE("Job: content in memory gives the same digests as content on disk") {
  const TempFolder folder;
  for (const Version version : requests::kVersions) {
    HashRequest request = request_of(folder, 5 * kBlock + 7);
    request.version = version;
    const requests::Expected expected = requests::expect(request);
    std::ifstream file(request.files[0].path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    request.files[0].path.clear();
    request.files[0].data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    Budget budget({2, kAmpleMemory});
    Tally finished;
    Job job(request, best(), budget);
    job.start([&] { finished.add(); });
    finished.wait();
    job.join();
    REQUIRE(right(job, expected));
    REQUIRE_EQ(job.progress().bytes.load(), 5 * kBlock + 7);
  }
}

TEST_CASE("Job: run_here() hashes content in memory on the calling thread, outside the budget") {
  const TempFolder folder;
  Budget budget({1, kAmpleMemory});
  const Occupied occupied(budget);
  std::thread::id hashed_on;
  const HookKernel hook([&] { hashed_on = std::this_thread::get_id(); });
  for (const std::size_t size : {kBlock - 1, kBlock, kBlock + 1, 4 * kBlock, 8 * kBlock + 7}) {
    const oracle::Bytes content = oracle::content(size, 1);
    for (const Version version : requests::kVersions) {
      for (const std::uint64_t piece_length : {kBlock, 2 * kBlock, 16 * kBlock}) {
        for (const std::uint64_t reads : {std::uint64_t{1}, (size + kBlock - 1) / kBlock}) {
          INFO(requests::name_of(version), ", ", size, " bytes, pieces of ", piece_length, ", ", reads,
               " reads");
          HashRequest request = request_of(folder, size);
          request.version = version;
          request.piece_length = piece_length;
          request.read_size = request.memory_limit = reads * kBlock;
          const requests::Expected expected = requests::expect(request);
          request.files[0].path.clear();
          request.files[0].data = content.data();
          Job job(request, hook.kernels(), budget);
          hashed_on = {};
          job.run_here();
          REQUIRE(right(job, expected));
          REQUIRE(hashed_on == std::this_thread::get_id());
          REQUIRE_EQ(job.progress().bytes.load(), size);
          REQUIRE_EQ(job.queued(), 0U);
        }
      }
    }
  }
}

TEST_CASE("Job: run_here() fails with the failure of its worker") {
  const TempFolder folder;
  HashRequest request = request_of(folder, 5);
  request.files[0].path += "-missing";
  Job job(request, best());
  job.run_here();
  REQUIRE(failed(job, Failure::Code::open));
}

TEST_CASE("Job: uses the budget of the process by default") {
  const TempFolder folder;
  Tally finished;
  Job job(request_of(folder, 5 * kBlock), best());
  Occupied occupied(Budget::process());
  job.start([&] { finished.add(); });
  REQUIRE_EQ(job.queued(), 1U);
  occupied.release();
  finished.wait();
  job.join();
  REQUIRE(std::holds_alternative<Digests>(job.outcome()));
}

TEST_CASE("Job: its outcome is the failure of a worker") {
  const TempFolder folder;
  HashRequest request = request_of(folder, 5);
  request.files[0].path += "-missing";
  Budget budget({2, kAmpleMemory});
  Tally finished;
  Job job(request, best(), budget);
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  REQUIRE(failed(job, Failure::Code::open));
  const auto& failure = std::get<Failure>(job.outcome());
  REQUIRE_EQ(failure.path, request.files[0].path);
  REQUIRE_EQ(failure.error, ENOENT);
  REQUIRE(is_free(budget));
}

TEST_CASE("Job: can be cancelled while it runs, from any thread") {
  const TempFolder folder;
  for (const bool other : {false, true}) {
    Budget budget({1, kAmpleMemory});
    Tally finished;
    Held held;
    Job job(request_of(folder, 5 * kBlock), held.kernels(), budget);
    held.watch(job);
    job.start([&] { finished.add(); });
    held.wait();
    REQUIRE_EQ(finished.count(), 0U);
    if (other) {
      std::thread([&job] { job.cancel(); }).join();
    } else {
      job.cancel();
      job.cancel();
    }
    finished.wait();
    job.join();
    REQUIRE(failed(job, Failure::Code::aborted));
    REQUIRE_EQ(job.progress().bytes.load(), kBlock);
    REQUIRE_EQ(finished.count(), 1U);
    REQUIRE(is_free(budget));
  }
}

TEST_CASE("Job: cancelled while it waits, it ends at once and never runs") {
  const TempFolder folder;
  Budget budget({2, kAmpleMemory});
  Occupied occupied(budget);
  Tally finished;
  Job job(request_of(folder, 5), best(), budget);
  job.start([&] { finished.add(); });
  REQUIRE_EQ(finished.count(), 0U);
  REQUIRE_EQ(job.queued(), 1U);
  job.cancel();
  REQUIRE_EQ(finished.count(), 1U);
  REQUIRE(failed(job, Failure::Code::aborted));
  job.cancel();
  occupied.release();
  job.join();
  REQUIRE_EQ(finished.count(), 1U);
  REQUIRE_EQ(job.progress().bytes.load(), 0U);
  REQUIRE(is_free(budget));
}

TEST_CASE("Job: waiting jobs run when threads are free, with no more threads than they want") {
  const TempFolder folder;
  Budget budget({3, kAmpleMemory});
  Occupied occupied(budget);
  Tally finished;
  HashRequest request = request_of(folder, 50 * kBlock);
  const requests::Expected expected = requests::expect(request);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < 4; ++i) {
    request.threads = 1 + i;
    request.memory_limit = request.threads * kBlock;
    jobs.push_back(std::make_unique<Job>(request, best(), budget));
    jobs.back()->start([&] { finished.add(); });
    REQUIRE_EQ(jobs.back()->queued(), i + 1U);
  }
  REQUIRE_EQ(finished.count(), 0U);
  occupied.release();
  finished.wait(4);
  for (const auto& job : jobs) {
    job->join();
    REQUIRE(right(*job, expected));
  }
  REQUIRE(is_free(budget));
}

TEST_CASE("Job: uses as many threads as it may, and no more") {
  const TempFolder folder;
  Sample sample;
  for (const Version version : requests::kVersions) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      for (const unsigned limit : {1U, 3U, 8U}) {
        INFO(requests::name_of(version), ", ", threads, " of ", limit);
        if (!sample.next()) continue;
        HashRequest request =
            requests::request_of({folder.add("file", oracle::content(4 * kMiB, 1))}, version, kMiB);
        request.threads = threads;
        const unsigned expected = std::min(threads, limit);
        std::mutex mutex;
        std::vector<std::thread::id> seen;
        const auto count = [&] {
          const std::lock_guard<std::mutex> lock(mutex);
          const auto id = std::this_thread::get_id();
          if (std::find(seen.begin(), seen.end(), id) == seen.end()) seen.push_back(id);
          return seen.size();
        };
        // Holds each thread in its first piece until all threads have one, or for a limited time.
        const HookKernel meeting([&] {
          for (int i = 0; count() < expected && i < 5000; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        REQUIRE(!requests::run_as_job(request, meeting.kernels(), limit).failure);
        REQUIRE_EQ(seen.size(), expected);
        REQUIRE(std::find(seen.begin(), seen.end(), std::this_thread::get_id()) == seen.end());
      }
    }
  }
}

TEST_CASE("Job: one piece uses one thread") {
  const TempFolder folder;
  HashRequest request =
      requests::request_of({folder.add("file", oracle::content(kMiB, 1))}, Version::v1, kMiB);
  request.threads = 8;
  Budget budget({8, kAmpleMemory});
  Tally finished;
  Held held;
  Job job(request, held.kernels(), budget);
  held.watch(job);
  job.start([&] { finished.add(); });
  held.wait();
  REQUIRE_EQ(Occupied(budget).places(), 7U);
  job.cancel();
  finished.wait();
}

TEST_CASE("Job: its memory counts in the budget") {
  const TempFolder folder;
  HashRequest request =
      requests::request_of({folder.add("file", oracle::content(kMiB, 1))}, Version::v1, kBlock);
  request.threads = 4;
  request.memory_limit = 4 * 3 * kBlock;
  // Three lanes per worker: two workers fit.
  Budget budget({8, 7 * kBlock});
  Tally finished;
  Held held;
  Job job(request, held.kernels(), budget);
  held.watch(job);
  job.start([&] { finished.add(); });
  held.wait(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE_EQ(held.count(), 2U);
  job.cancel();
  finished.wait();
}

TEST_CASE("Job: can be stopped while it runs") {
  const TempFolder folder;
  Budget budget({1, kAmpleMemory});
  Tally finished;
  Held held;
  Job job(request_of(folder, 5 * kBlock), held.kernels(), budget);
  held.watch(job);
  job.start([&] { finished.add(); });
  held.wait();
  job.stop();
  REQUIRE(failed(job, Failure::Code::aborted));
  REQUIRE_EQ(job.progress().bytes.load(), kBlock);
  REQUIRE_EQ(finished.count(), 1U);
  REQUIRE(is_free(budget));
  job.stop();
  REQUIRE_EQ(finished.count(), 1U);
}

TEST_CASE("Job: stopped while it waits, it reports nothing") {
  const TempFolder folder;
  Budget budget({1, kAmpleMemory});
  Occupied occupied(budget);
  Tally finished;
  Job job(request_of(folder, 5), best(), budget);
  job.start([&] { finished.add(); });
  job.stop();
  occupied.release();
  REQUIRE(is_free(budget));
  REQUIRE_EQ(finished.count(), 0U);
  REQUIRE(std::holds_alternative<std::monostate>(job.outcome()));
}

TEST_CASE("Job: can be destroyed before its start, while it waits and while it runs") {
  const TempFolder folder;
  const NoneLeft none;
  Budget budget({1, kAmpleMemory});
  Tally finished;
  const auto count = [&] { finished.add(); };
  { const Job job(request_of(folder, 5), best(), budget); }
  {
    Occupied occupied(budget);
    Job job(request_of(folder, 5), best(), budget);
    job.start(count);
  }
  REQUIRE_EQ(finished.count(), 0U);
  REQUIRE(is_free(budget));
  Held held;
  {
    Job job(request_of(folder, 5 * kBlock), held.kernels(), budget);
    held.watch(job);
    job.start(count);
    held.wait();
  }
  REQUIRE_EQ(finished.count(), 1U);
  REQUIRE(is_free(budget));
  none.check();
}

TEST_CASE("Job: can be cancelled or stopped before its start") {
  const TempFolder folder;
  Budget budget({1, kAmpleMemory});
  for (const bool stopped : {false, true}) {
    Tally finished;
    Job job(request_of(folder, 5), best(), budget);
    if (stopped) {
      job.stop();
    } else {
      job.cancel();
    }
    REQUIRE_EQ(finished.count(), 0U);
    job.start([&] { finished.add(); });
    finished.wait();
    REQUIRE(failed(job, Failure::Code::aborted));
    REQUIRE_EQ(job.progress().bytes.load(), 0U);
  }
}

TEST_CASE("Job: a job that left its place is cancelled at once, on the calling thread") {
  const NoneLeft none;
  {
    Paused paused;
    paused.job.cancel();
    REQUIRE_EQ(paused.finished.count(), 1U);
    REQUIRE(failed(paused.job, Failure::Code::aborted));
    REQUIRE_EQ(paused.job.queued(), 0U);
    paused.other->release();
    REQUIRE(is_free(paused.budget));
    paused.job.join();
    paused.job.cancel();
    REQUIRE_EQ(paused.finished.count(), 1U);
  }
  none.check();
}

TEST_CASE("Job: a job that left its place is stopped or destroyed without a report") {
  const NoneLeft none;
  {
    Paused paused;
    paused.job.stop();
    REQUIRE_EQ(paused.finished.count(), 0U);
    paused.other->release();
    REQUIRE(is_free(paused.budget));
  }
  { const Paused paused; }
  none.check();
}

TEST_CASE("Job: a job that left its place continues where it was") {
  const TempFolder folder;
  // The pad files before the file ensure that the job has been served something.
  const HashRequest request = requests::narrow(requests::request_of(
      {requests::pad(std::uint64_t{3} << 30), folder.add("file", oracle::content(999, 1))}, Version::v1,
      4 * kMiB));
  Paused paused(request);
  const unsigned before = paused.calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE_EQ(paused.calls.load(), before);
  paused.other->release();
  paused.finished.wait();
  paused.job.join();
  REQUIRE(paused.calls > before);
  const auto& digests = std::get<Digests>(paused.job.outcome());
  const oracle::Bytes zeros(4 * kMiB);
  const metainfo::Sha1Digest wanted = oracle::sha1(zeros.data(), zeros.size());
  REQUIRE_EQ(digests.v1.size(), 769 * 20U);
  for (std::size_t at = 0; at < 768 * 20; at += 20)
    REQUIRE(std::equal(wanted.begin(), wanted.end(), digests.v1.begin() + static_cast<std::ptrdiff_t>(at)));
  const oracle::Bytes last = oracle::content(999, 1);
  const metainfo::Sha1Digest end = oracle::sha1(last.data(), last.size());
  REQUIRE(std::equal(end.begin(), end.end(), digests.v1.end() - 20));
}

TEST_CASE("Job: hashes correctly while its workers come and go") {
  const TempFolder folder;
  const NoneLeft none;
  for (const Version version : requests::kVersions) {
    INFO(requests::name_of(version));
    const std::size_t size = thin() == 1 ? 24 * kMiB + 5 : 3 * kMiB + 5;
    HashRequest request =
        requests::request_of({folder.add("file", oracle::content(size, 1)), folder.add("empty", {})}, version,
                             version == Version::v2 ? 2 * kMiB : 2 * kBlock);
    request.threads = 3;
    const requests::Expected expected = requests::expect(request);
    Budget budget({3, kAmpleMemory});
    std::atomic<bool> done{false};
    std::thread others([&] {
      while (!done) Occupied(budget, 2);
    });
    for (unsigned i = 0; i < 3; ++i) {
      Tally finished;
      Job job(request, best(), budget);
      job.start([&] { finished.add(); });
      finished.wait();
      job.join();
      if (!right(job, expected)) done = true;
      if (done) break;
    }
    const bool wrong = done.exchange(true);
    others.join();
    REQUIRE(!wrong);
    REQUIRE(is_free(budget));
  }
  none.check();
}

TEST_CASE("Job: a small job is not held up by a huge one, which continues") {
  const TempFolder folder;
  const HookKernel slow(moment);
  Budget budget({2, kAmpleMemory});
  HashRequest request = endless();
  request.threads = 2;
  Tally huge_finished;
  Job huge(request, slow.kernels(), budget);
  huge.start([&] { huge_finished.add(); });
  for (unsigned i = 0; i < 20 / thin(); ++i) {
    const HashRequest small = request_of(folder, 3 * kBlock);
    Tally finished;
    Job job(small, best(), budget);
    job.start([&] { finished.add(); });
    finished.wait();
    job.join();
    REQUIRE(right(job, requests::expect(small)));
    REQUIRE_EQ(huge_finished.count(), 0U);
    REQUIRE(std::holds_alternative<std::monostate>(huge.outcome()));
  }
  huge.cancel();
  huge_finished.wait();
  REQUIRE(failed(huge, Failure::Code::aborted));
}

#ifdef __GLIBC__
TEST_CASE("Job: fails if the system starts no thread, and frees its place") {
  const TempFolder folder;
  Budget budget({2, kAmpleMemory});
  Tally finished;
  const auto count = [&] { finished.add(); };
  Occupied occupied(budget);
  Job waiting(request_of(folder, 5), best(), budget);
  waiting.start(count);
  Job next(request_of(folder, 5), best(), budget);
  next.start(count);
  {
    const NoThreads none;
    occupied.release();
    REQUIRE_EQ(finished.count(), 2U);
    Job alone(request_of(folder, 5), best(), budget);
    alone.start(count);
    REQUIRE_EQ(finished.count(), 3U);
    REQUIRE(failed(alone, Failure::Code::no_thread));
  }
  for (Job* job : {&waiting, &next}) REQUIRE(failed(*job, Failure::Code::no_thread));
  REQUIRE(is_free(budget));
}

TEST_CASE("Job: if the system starts only one thread, it does the whole job") {
  const TempFolder folder;
  HashRequest request = request_of(folder, 3 * kMiB + 5);
  request.threads = 8;
  request.memory_limit = 8 * kBlock;
  const requests::Expected expected = requests::expect(request);
  std::atomic<bool> go{false};
  Tally entered;
  const HookKernel gate([&] {
    entered.add();
    while (!go) std::this_thread::yield();
  });
  Budget budget({1, kAmpleMemory});
  Tally finished;
  Job job(request, gate.kernels(), budget);
  job.start([&] { finished.add(); });
  entered.wait();
  {
    const NoThreads none(1);
    budget.set_limits({8, kAmpleMemory});
    REQUIRE_EQ(Occupied(budget).places(), 7U);
  }
  go = true;
  finished.wait();
  job.join();
  REQUIRE(right(job, expected));
}
#endif

TEST_CASE("Job: reports its end once, however and whenever it ends") {
  const TempFolder folder;
  const NoneLeft none;
  const HashRequest small = request_of(folder, 20 * kBlock);
  const requests::Expected expected = requests::expect(small);
  std::minstd_rand random(9);
  Budget budget({2, kAmpleMemory});
  const HookKernel slow([] { std::this_thread::yield(); });
  for (unsigned round = 0; round < 400 / thin(); ++round) {
    INFO("round ", round);
    std::unique_ptr<Occupied> occupied;
    if (random() % 3 == 0) occupied = std::make_unique<Occupied>(budget);
    HashRequest request = small;
    request.threads = 1 + random() % 3;
    request.memory_limit = request.threads * kBlock;
    Tally finished;
    auto job = std::make_unique<Job>(request, random() % 2 == 0 ? slow.kernels() : best(), budget);
    const unsigned way = random() / 16 % 4;
    const bool waits = occupied != nullptr;
    job->start([&] { finished.add(); });
    for (unsigned spins = random() % 8; spins != 0; --spins)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
    if (way == 0) {
      occupied.reset();
      finished.wait();
      job->join();
      REQUIRE(right(*job, expected));
    } else if (way == 1) {
      job->cancel();
      finished.wait();
      job->join();
      REQUIRE((failed(*job, Failure::Code::aborted) || (!waits && right(*job, expected))));
    } else if (way == 2) {
      job->stop();
      if (waits) REQUIRE(std::holds_alternative<std::monostate>(job->outcome()));
    }
    job.reset();
    if (way < 2) {
      REQUIRE_EQ(finished.count(), 1U);
    } else {
      // A job that was stopped or destroyed does not report any more; without a worker it has never reported.
      REQUIRE(finished.count() <= (waits ? 0U : 1U));
    }
    occupied.reset();
    REQUIRE(is_free(budget));
  }
  none.check();
}

TEST_CASE("Job: two hundred jobs run at once, started on several threads, a third of them cancelled") {
  const TempFolder folder;
  const NoneLeft none;
  const std::size_t size = thin() == 1 ? 3 * kMiB + 5 : 300005;
  const HashRequest request =
      requests::request_of({folder.add("file", oracle::content(size, 1))}, Version::v1, kBlock);
  const requests::Expected expected = requests::expect(request);
  std::atomic<unsigned> running{0};
  std::atomic<unsigned> most{0};
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> finished{0};
  // The number of threads that hash at one time, sampled in every job.
  const HookKernel counting([&] {
    const unsigned now = ++running;
    unsigned seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
    --running;
  });
  Budget budget({2, kAmpleMemory});
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      std::minstd_rand random(id + 1);
      std::vector<std::unique_ptr<Job>> jobs;
      Tally own;
      for (unsigned i = 0; i < 50; ++i) {
        HashRequest copy = request;
        copy.threads = 1 + (id + i) % 4;
        jobs.push_back(std::make_unique<Job>(std::move(copy), counting.kernels(), budget));
        jobs.back()->start([&] {
          ++finished;
          own.add();
        });
        if (i % 3 == 2) jobs[i - random() % 3]->cancel();
      }
      own.wait(50);
      for (const auto& job : jobs) {
        job->join();
        const bool cancelled = job->progress().cancelled && failed(*job, Failure::Code::aborted);
        if (!cancelled && !right(*job, expected)) ++wrong;
      }
    });
  }
#ifdef __linux__
  std::size_t alive = 0;
  while (finished < 150) {
    // Threads that have ended disappear a little later, so the minimum of several counts is used.
    std::size_t fewest = threads_alive();
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      fewest = std::min(fewest, threads_alive());
    }
    alive = std::max(alive, fewest);
  }
#endif
  for (std::thread& thread : threads) thread.join();
  REQUIRE_EQ(wrong.load(), 0U);
  REQUIRE_EQ(finished.load(), 200U);
  REQUIRE(most <= 2);
  REQUIRE(is_free(budget));
  none.check();
#ifdef __linux__
  // The four above, two that hash, and some that are leaving.
  REQUIRE(alive <= threads_alive() + 4 + 2 + 4);
#endif
}
