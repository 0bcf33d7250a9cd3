#include "core/work.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "core/worker.h"
#include "files.h"
#include "plans.h"
#include "rows.h"
#include "scale.h"

using metainfo::Failure;
using metainfo::Gauge;
using metainfo::Version;
using metainfo::kMostLanes;
using metainfo::Plan;
using metainfo::PlanFile;
using metainfo::Work;
using plans::kBlock;
using plans::kMiB;
using plans::pad;
using plans::plan_of;

namespace {

// Of pads, so that nothing is on a disk.
Plan plan_of_units(std::uint64_t units, Version version, std::uint64_t piece_length) {
  if (version != Version::v2) return plan_of({pad(units * piece_length)}, version, piece_length);
  return plan_of({plans::unchecked("/nowhere", units * Work::kRunBytes)}, version, piece_length);
}

std::vector<Work::Batch> batches_of(Work& work) {
  std::vector<Work::Batch> batches;
  for (;;) {
    const Work::Batch batch = work.take();
    if (batch.first == batch.last) break;
    batches.push_back(batch);
  }
  const Work::Batch more = work.take();
  CHECK_EQUAL(more.first, more.last);
  return batches;
}

// Each unit is in one batch, in order, and batches are even.
void check_batches(const Plan& plan, std::uint64_t units, std::uint64_t most) {
  const check::Case round(std::string(plans::name_of(plan.version)) + ", " + std::to_string(units) + " units, " +
                          std::to_string(plan.threads) + " threads, pieces of " +
                          std::to_string(plan.piece_length));
  Gauge gauge;
  Work work(plan, best(), gauge);
  CHECK_EQUAL(work.units, units);
  const std::vector<Work::Batch> batches = batches_of(work);
  CHECK_EQUAL(batches.size(), work.batches);
  std::uint64_t next = 0;
  std::uint64_t smallest = units;
  std::uint64_t largest = 0;
  for (const Work::Batch& batch : batches) {
    CHECK_EQUAL(batch.first, next);
    CHECK(batch.last > batch.first);
    next = batch.last;
    smallest = std::min(smallest, batch.last - batch.first);
    largest = std::max(largest, batch.last - batch.first);
  }
  CHECK_EQUAL(next, units);
  CHECK(largest <= most);
  if (units != 0) CHECK(largest - smallest <= 1);
  // None of the threads has to watch the others at the end.
  CHECK(units < plan.threads ? batches.size() == units : batches.size() % plan.threads == 0 || largest == 1);
}

Failure refusal(const Plan& plan) {
  Gauge gauge;
  return CHECK_THROWS(Failure, Work(plan, best(), gauge));
}

}  // namespace

TEST("work: batches hold every unit once, and are even") {
  for (const std::uint64_t units :
       {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 129, 1000, 1023}) {
    for (const unsigned threads : {1, 2, 3, 4, 7, 8, 16, 64, 1000}) {
      for (const std::uint64_t piece : {kBlock, 64 * kBlock, 4 * kMiB}) {
        const std::uint64_t pieces = std::max<std::uint64_t>(kMostLanes, kMiB / piece);
        for (const Version version : plans::kKinds) {
          Plan plan = plan_of_units(units, version, piece);
          plan.threads = threads;
          check_batches(plan, units, version == Version::v2 ? 64 : pieces);
        }
      }
      // v1 also of pieces that are no power of two.
      Plan plan = plan_of_units(units, Version::v1, 1000);
      plan.threads = threads;
      check_batches(plan, units, kMiB / 1000);
    }
  }
}

TEST("work: few pieces go to as many threads as there are") {
  for (std::uint64_t units = 1; units <= 40; ++units) {
    Plan plan = plan_of_units(units, Version::v1, 16 * kMiB);
    plan.threads = 8;
    Gauge gauge;
    CHECK_EQUAL(Work(plan, best(), gauge).batches >= std::min<std::uint64_t>(units, 8), true);
  }
}

TEST("work: many threads take every unit once") {
  for (const Version version : {Version::v1, Version::v2}) {
    Plan plan = plan_of_units(10007, version, 32 * kBlock);
    plan.threads = 8;
    Gauge gauge;
    Work work(plan, best(), gauge);
    std::vector<std::atomic<unsigned>> taken(10007);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (;;) {
          const Work::Batch batch = work.take();
          if (batch.first == batch.last) return;
          for (std::uint64_t unit = batch.first; unit < batch.last; ++unit) ++taken[unit];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(std::all_of(taken.begin(), taken.end(), [](const auto& times) { return times == 1; }));
  }
}

TEST("work: the file at a place is the one whose content is there") {
  const auto file = [](std::uint64_t length) { return plans::unchecked("/nowhere", length); };
  Gauge gauge;
  const Work bytes(
      plan_of({file(0), file(10), file(0), file(0), pad(0), file(5), pad(7), file(0)}, Version::v1, kBlock),
      best(), gauge);
  CHECK_EQUAL(bytes.end, 22U);
  for (std::uint64_t place = 0; place < 22; ++place)
    CHECK_EQUAL(bytes.file_at(place), place < 10 ? 1U : place < 15 ? 5U : 6U);
  CHECK_EQUAL(bytes.empty_files, (std::vector<std::size_t>{0, 2, 3, 7}));
  const Work runs(plan_of({file(0), file(1), pad(99), file(kMiB), file(0), file(kMiB + 1)}, Version::v2, kBlock),
                  best(), gauge);
  CHECK_EQUAL(runs.units, 4U);
  const std::size_t wanted[] = {1, 3, 5, 5};
  for (std::uint64_t place = 0; place < 4; ++place) CHECK_EQUAL(runs.file_at(place), wanted[place]);
}

TEST("work: results have room for what the plan holds, and no more") {
  const auto file = [](std::uint64_t length) { return plans::unchecked("/nowhere", length); };
  const std::vector<PlanFile> files = {file(0), file(kBlock), file(kBlock + 1), pad(kBlock - 1),
                                       file(5 * kBlock)};
  Gauge gauge;
  const Work v1(plan_of(files, Version::v1, kBlock), best(), gauge);
  CHECK_EQUAL(v1.digests.v1.size(), 8 * 20U);
  CHECK(v1.digests.roots.empty() && v1.digests.layers.empty());
  const Work v2(plan_of(files, Version::v2, kBlock), best(), gauge);
  CHECK(v2.digests.v1.empty());
  CHECK_EQUAL(v2.digests.roots.size(), 5 * 32U);
  CHECK_EQUAL(v2.digests.layers.size(), 7 * 32U);
  const Work hybrid(plan_of(files, Version::hybrid, kBlock), best(), gauge);
  CHECK_EQUAL(hybrid.digests.v1.size(), 8 * 20U);
  CHECK_EQUAL(hybrid.digests.roots.size(), 5 * 32U);
  CHECK_EQUAL(hybrid.digests.layers.size(), 7 * 32U);
}

TEST("work: a hybrid plan whose files are not aligned is refused") {
  const auto file = [](const char* path, std::uint64_t length) { return plans::unchecked(path, length); };
  const std::vector<PlanFile> files = {file("/a", kBlock + 1), file("/b", 0), file("/c", 5)};
  const Failure failure = refusal(plan_of(files, Version::hybrid, kBlock));
  CHECK(failure.code == Failure::Code::internal);
  CHECK_EQUAL(failure.path, "/c");
  std::vector<PlanFile> nearly = files;
  nearly.insert(nearly.begin() + 1, pad(kBlock - 2));
  CHECK(refusal(plan_of(nearly, Version::hybrid, kBlock)).code == Failure::Code::internal);
  nearly[1] = pad(kBlock - 1);
  Gauge gauge;
  CHECK_EQUAL(Work(plan_of(nearly, Version::hybrid, kBlock), best(), gauge).units, 3U);
}

TEST("work: the first failure stands, and stops the job") {
  Gauge gauge;
  Work work(plan_of_units(100, Version::v1, kBlock), best(), gauge);
  CHECK(!work.stopped());
  work.fail({Failure::Code::open, 1, "first", {}});
  work.fail({Failure::Code::read, 2, "second", {}});
  CHECK(work.stopped());
  CHECK_EQUAL(work.failure->path, "first");
  CHECK_EQUAL(plans::make_worker(work)->batch(), 0U);
}

TEST("work: a file cannot be there for one worker and missing for another") {
  Plan plan = plan_of_units(10, Version::v2, kBlock);
  plan.mark_missing = true;
  Gauge gauge;
  Work work(plan, best(), gauge);
  work.mark_missing(0);
  work.mark_missing(0);
  CHECK(work.missing[0]);
  CHECK(CHECK_THROWS(Failure, work.mark_opened(0)).code == Failure::Code::changed);
  Work read(plan, best(), gauge);
  read.mark_opened(0);
  const Failure failure = CHECK_THROWS(Failure, read.mark_missing(0));
  CHECK(failure.code == Failure::Code::changed);
  CHECK_EQUAL(failure.path, "/nowhere");
  read.mark_opened(0);
  CHECK(!read.missing[0]);
}

TEST("work: sizes up to the largest that are hashed") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  Gauge gauge;
  // Pieces as large: a few units, and nothing to hold for them.
  for (const Version version : {Version::v1, Version::hybrid}) {
    const check::Case round(plans::name_of(version));
    Plan plan =
        plan_of({plans::unchecked("/nowhere", kHuge), pad(2 * kHuge), plans::unchecked("/nowhere", kHuge)},
                version, kHuge / 4);
    plan.threads = 3;
    Work work(plan, best(), gauge);
    CHECK_EQUAL(work.units, 16U);
    CHECK_EQUAL(work.file_at(kHuge - 1), 0U);
    CHECK_EQUAL(work.file_at(kHuge), 1U);
    CHECK_EQUAL(work.file_at(work.end - 1), 2U);
    CHECK_EQUAL(batches_of(work).size(), 3U);
    const plans::Ran ran = plans::run_as_workers(plan, best());
    CHECK(ran.failure && ran.failure->code == Failure::Code::open);
  }
  Plan runs =
      plan_of({plans::unchecked("/nowhere", (std::uint64_t{1} << 40) + 5)}, Version::v2, std::uint64_t{1} << 40);
  Work work(runs, best(), gauge);
  CHECK_EQUAL(work.units, (std::uint64_t{1} << 20) + 1);
  CHECK_EQUAL(work.digests.layers.size(), 64U);
  CHECK(plans::run_as_workers(runs, best()).failure->code == Failure::Code::open);
}

TEST("work: what no memory would hold, or 64 bits not count, is refused") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto refused = [](const Plan& plan) {
    Gauge gauge;
    try {
      const Work work(plan, best(), gauge);
    } catch (const Failure& failure) {
      return failure.code == Failure::Code::no_memory;
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  };
  for (const std::uint64_t length : {kHuge, kHuge + 1, 2 * kHuge, 3 * kHuge, kMost}) {
    for (const Version version : {Version::v1, Version::hybrid}) {
      const check::Case round(std::to_string(length) + ", " + plans::name_of(version));
      CHECK(refused(plan_of({pad(length), pad(length), pad(length), pad(length)}, version, kHuge / 4)));
      CHECK(refused(plan_of({pad(5), pad(length)}, version, kHuge / 4)));
      if (length > kHuge || throws_bad_alloc())
        CHECK(refused(plan_of({plans::unchecked("/nowhere", length)}, version, kBlock)));
    }
    // Of one byte a piece, whose digests would wrap around.
    CHECK(refused(plan_of({pad(length)}, Version::v1, 1)));
    if (length > kHuge || throws_bad_alloc())
      CHECK(refused(plan_of({plans::unchecked("/nowhere", length)}, Version::v2, kBlock)));
  }
  CHECK(
      refused(plan_of(std::vector<PlanFile>(100000, plans::unchecked("/nowhere", kMost)), Version::v2, kHuge)));
}

TEST("work: a worker's buffers are within its share of the memory, but for one read") {
  for (const Version version : plans::kKinds) {
    for (const std::uint64_t piece : {kBlock, 8 * kBlock, 4 * kMiB}) {
      for (std::uint64_t read = kBlock; read <= kMiB; read *= 2) {
        for (const std::uint64_t limit : {kBlock, read, 3 * read + 5, 64 * kMiB}) {
          for (const unsigned threads : {1, 3}) {
            Plan plan = plan_of({}, version, piece);
            plan.read_size = read;
            plan.memory_limit = limit;
            plan.threads = threads;
            const metainfo::WorkerShape shape = metainfo::worker_shape(plan);
            CHECK(shape.slice >= kBlock && shape.slice <= read && shape.slice % kBlock == 0);
            CHECK(shape.lanes >= 1 && (version == Version::v2 || shape.lanes <= kMostLanes));
            CHECK(shape.lanes == 1 || shape.bytes() <= limit / threads);
            if (version != Version::v2) CHECK(shape.slice <= piece);
          }
        }
      }
    }
  }
}
