#include "core/hash/job_state.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/hash/worker.h"
#include "files.h"
#include "kernel_lists.h"
#include "plans.h"
#include "scale.h"
#include "test.h"

using metainfo::Failure;
using metainfo::HashRequest;
using metainfo::JobState;
using metainfo::Kernels;
using metainfo::kMaxLanes;
using metainfo::Progress;
using metainfo::RequestedFile;
using metainfo::Version;
using requests::kBlock;
using requests::kMiB;
using requests::pad;
using requests::request_of;

namespace {

// A request without files on disk.
HashRequest request_of_units(std::uint64_t units, Version version, std::uint64_t piece_length) {
  if (version != Version::v2) return request_of({pad(units * piece_length)}, version, piece_length);
  return request_of({requests::unchecked("/nowhere", units * JobState::kSubtreeBytes)}, version,
                    piece_length);
}

std::vector<JobState::Part> parts_of(JobState& job) {
  std::vector<JobState::Part> parts;
  for (;;) {
    const JobState::Part part = job.take_part();
    if (part.first == part.last) break;
    parts.push_back(part);
  }
  const JobState::Part more = job.take_part();
  REQUIRE_EQ(more.first, more.last);
  return parts;
}

// Requires that the parts cover each unit once and in order, and that their sizes differ by at most one.
void check_parts(const HashRequest& request, std::uint64_t units, std::uint64_t most) {
  INFO(requests::name_of(request.version), ", ", units, " units, ", request.threads, " threads, pieces of ",
       request.piece_length);
  Progress progress;
  JobState job(request, best(), progress);
  REQUIRE_EQ(job.units, units);
  const std::vector<JobState::Part> parts = parts_of(job);
  REQUIRE_EQ(parts.size(), job.parts);
  std::uint64_t next = 0;
  std::uint64_t smallest = units;
  std::uint64_t largest = 0;
  for (const JobState::Part& part : parts) {
    REQUIRE_EQ(part.first, next);
    REQUIRE(part.last > part.first);
    next = part.last;
    smallest = std::min(smallest, part.last - part.first);
    largest = std::max(largest, part.last - part.first);
  }
  REQUIRE_EQ(next, units);
  REQUIRE(largest <= most);
  if (units != 0) REQUIRE(largest - smallest <= 1);
  // No thread is idle while others do the last parts.
  REQUIRE((units < request.threads ? parts.size() == units
                                   : parts.size() % request.threads == 0 || largest == 1));
}

Failure refusal(const HashRequest& request) {
  Progress progress;
  return thrown_by<Failure>([&] { static_cast<void>(JobState(request, best(), progress)); });
}

}  // namespace

TEST_CASE("JobState: parts cover every unit once and differ by at most one unit") {
  for (const std::uint64_t units :
       {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 129, 1000, 1023}) {
    for (const unsigned threads : {1, 2, 3, 4, 7, 8, 16, 64, 1000}) {
      for (const std::uint64_t piece : {kBlock, 64 * kBlock, 4 * kMiB}) {
        const std::uint64_t pieces = std::max<std::uint64_t>(kMaxLanes, kMiB / piece);
        for (const Version version : requests::kVersions) {
          HashRequest request = request_of_units(units, version, piece);
          request.threads = threads;
          check_parts(request, units, version == Version::v2 ? 64 : pieces);
        }
      }
      // v1 also with a piece length that is not a power of two.
      HashRequest request = request_of_units(units, Version::v1, 1000);
      request.threads = threads;
      check_parts(request, units, kMiB / 1000);
    }
  }
}

TEST_CASE("JobState: a few pieces spread over all threads") {
  for (std::uint64_t units = 1; units <= 40; ++units) {
    HashRequest request = request_of_units(units, Version::v1, 16 * kMiB);
    request.threads = 8;
    Progress progress;
    REQUIRE_EQ(JobState(request, best(), progress).parts >= std::min<std::uint64_t>(units, 8), true);
  }
}

TEST_CASE("JobState: many threads take every unit exactly once") {
  for (const Version version : {Version::v1, Version::v2}) {
    HashRequest request = request_of_units(10007, version, 32 * kBlock);
    request.threads = 8;
    Progress progress;
    JobState job(request, best(), progress);
    std::vector<std::atomic<unsigned>> taken(10007);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (;;) {
          const JobState::Part part = job.take_part();
          if (part.first == part.last) return;
          for (std::uint64_t unit = part.first; unit < part.last; ++unit) ++taken[unit];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(std::all_of(taken.begin(), taken.end(), [](const auto& times) { return times == 1; }));
  }
}

TEST_CASE("JobState: file_at() finds the file whose content is at a position") {
  const auto file = [](std::uint64_t length) { return requests::unchecked("/nowhere", length); };
  Progress progress;
  const JobState bytes(request_of({file(0), file(10), file(0), file(0), pad(0), file(5), pad(7), file(0)},
                                  Version::v1, kBlock),
                       best(), progress);
  REQUIRE_EQ(bytes.end, 22U);
  for (std::uint64_t place = 0; place < 22; ++place)
    REQUIRE_EQ(bytes.file_at(place), place < 10 ? 1U : place < 15 ? 5U : 6U);
  REQUIRE_EQ(bytes.empty_files, (std::vector<std::size_t>{0, 2, 3, 7}));
  const JobState runs(
      request_of({file(0), file(1), pad(99), file(kMiB), file(0), file(kMiB + 1)}, Version::v2, kBlock),
      best(), progress);
  REQUIRE_EQ(runs.units, 4U);
  const std::size_t expected[] = {1, 3, 5, 5};
  for (std::uint64_t place = 0; place < 4; ++place) REQUIRE_EQ(runs.file_at(place), expected[place]);
}

TEST_CASE("JobState: allocates exactly the digests of the request") {
  const auto file = [](std::uint64_t length) { return requests::unchecked("/nowhere", length); };
  const std::vector<RequestedFile> files = {file(0), file(kBlock), file(kBlock + 1), pad(kBlock - 1),
                                            file(5 * kBlock)};
  Progress progress;
  const JobState v1(request_of(files, Version::v1, kBlock), best(), progress);
  REQUIRE_EQ(v1.digests.v1.size(), 8 * 20U);
  REQUIRE((v1.digests.roots.empty() && v1.digests.layers.empty()));
  const JobState v2(request_of(files, Version::v2, kBlock), best(), progress);
  REQUIRE(v2.digests.v1.empty());
  REQUIRE_EQ(v2.digests.roots.size(), 5 * 32U);
  REQUIRE_EQ(v2.digests.layers.size(), 7 * 32U);
  const JobState hybrid(request_of(files, Version::hybrid, kBlock), best(), progress);
  REQUIRE_EQ(hybrid.digests.v1.size(), 8 * 20U);
  REQUIRE_EQ(hybrid.digests.roots.size(), 5 * 32U);
  REQUIRE_EQ(hybrid.digests.layers.size(), 7 * 32U);
}

TEST_CASE("JobState: rejects a hybrid request whose files are not aligned") {
  const auto file = [](const char* path, std::uint64_t length) { return requests::unchecked(path, length); };
  const std::vector<RequestedFile> files = {file("/a", kBlock + 1), file("/b", 0), file("/c", 5)};
  const Failure failure = refusal(request_of(files, Version::hybrid, kBlock));
  REQUIRE(failure.code == Failure::Code::internal);
  REQUIRE_EQ(failure.path, "/c");
  std::vector<RequestedFile> nearly = files;
  nearly.insert(nearly.begin() + 1, pad(kBlock - 2));
  REQUIRE(refusal(request_of(nearly, Version::hybrid, kBlock)).code == Failure::Code::internal);
  nearly[1] = pad(kBlock - 1);
  Progress progress;
  REQUIRE_EQ(JobState(request_of(nearly, Version::hybrid, kBlock), best(), progress).units, 3U);
}

TEST_CASE("JobState: the workers of many files lay them out once") {
  constexpr unsigned kFiles = 20000;
  HashRequest request = request_of(std::vector<RequestedFile>(kFiles, pad(kBlock)), Version::v1, kBlock);
  request.threads = 8;
  Progress progress;
  JobState job(request, best(), progress);
  REQUIRE(job.has_many_files());
  REQUIRE_EQ(job.units, 0U);
  std::vector<std::atomic<unsigned>> taken(kFiles);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      job.prepare();
      for (;;) {
        const JobState::Part part = job.take_part();
        if (part.first == part.last) return;
        for (std::uint64_t unit = part.first; unit < part.last; ++unit) ++taken[unit];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE_EQ(job.units, kFiles);
  REQUIRE(std::all_of(taken.begin(), taken.end(), [](const auto& times) { return times == 1; }));
}

TEST_CASE("JobState: a job of many files fails if they cannot be laid out, and stops when it is cancelled") {
  Progress progress;
  const std::vector<RequestedFile> misaligned(20000, requests::unchecked("/a", kBlock + 1));
  JobState job(request_of(misaligned, Version::hybrid, kBlock), best(), progress);
  job.prepare();
  REQUIRE(job.stopped());
  REQUIRE((job.failure && job.failure->code == Failure::Code::internal));
  progress.cancelled = true;
  JobState cancelled(request_of(misaligned, Version::v1, kBlock), best(), progress);
  cancelled.prepare();
  REQUIRE_EQ(cancelled.parts, 0U);
}

TEST_CASE("JobState: only a large job with SHA-256 races kernels, and never if one is forced") {
  constexpr std::uint64_t kLarge = std::uint64_t{512} << 20;
  Kernels kernels;
  Progress progress;
  const auto raced = [&](Version version, std::uint64_t bytes) {
    metainfo::set_first_sha256(SIZE_MAX);
    JobState job(request_of({requests::unchecked("/nowhere", bytes)}, version, 1 << 20), kernels, progress);
    job.prepare();
    Kernels later;
    REQUIRE(metainfo::select_kernels(nullptr, later));
    metainfo::set_first_sha256(SIZE_MAX);
    return !later.race_sha256;
  };
  REQUIRE(metainfo::select_kernels(nullptr, kernels));
  REQUIRE((raced(Version::v2, kLarge) && raced(Version::hybrid, kLarge)));
  REQUIRE((!raced(Version::v2, kLarge / 2) && !raced(Version::hybrid, kLarge / 2)));
  REQUIRE(!raced(Version::v1, kLarge));
  REQUIRE(metainfo::select_kernels("openssl", kernels));
  REQUIRE(!raced(Version::v2, kLarge));
}

TEST_CASE("JobState: keeps the first failure and stops the job") {
  Progress progress;
  JobState job(request_of_units(100, Version::v1, kBlock), best(), progress);
  REQUIRE(!job.stopped());
  job.fail({Failure::Code::open, 1, "first", {}});
  job.fail({Failure::Code::read, 2, "second", {}});
  REQUIRE(job.stopped());
  REQUIRE_EQ(job.failure->path, "first");
  REQUIRE_EQ(requests::make_worker(job)->do_part(), 0U);
}

TEST_CASE("JobState: a file that one worker has opened cannot be missing for another") {
  HashRequest request = request_of_units(10, Version::v2, kBlock);
  request.mark_missing = true;
  Progress progress;
  JobState job(request, best(), progress);
  job.mark_missing(0);
  job.mark_missing(0);
  REQUIRE(job.missing[0]);
  REQUIRE(thrown_by<Failure>([&] { static_cast<void>(job.mark_opened(0)); }).code == Failure::Code::changed);
  JobState read(request, best(), progress);
  read.mark_opened(0);
  const Failure failure = thrown_by<Failure>([&] { static_cast<void>(read.mark_missing(0)); });
  REQUIRE(failure.code == Failure::Code::changed);
  REQUIRE_EQ(failure.path, "/nowhere");
  read.mark_opened(0);
  REQUIRE(!read.missing[0]);
}

TEST_CASE("JobState: supports sizes up to the largest that can be hashed") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  Progress progress;
  // With huge pieces there are few units and few digests.
  for (const Version version : {Version::v1, Version::hybrid}) {
    INFO(requests::name_of(version));
    HashRequest request = request_of(
        {requests::unchecked("/nowhere", kHuge), pad(2 * kHuge), requests::unchecked("/nowhere", kHuge)},
        version, kHuge / 4);
    request.threads = 3;
    JobState job(request, best(), progress);
    REQUIRE_EQ(job.units, 16U);
    REQUIRE_EQ(job.file_at(kHuge - 1), 0U);
    REQUIRE_EQ(job.file_at(kHuge), 1U);
    REQUIRE_EQ(job.file_at(job.end - 1), 2U);
    REQUIRE_EQ(parts_of(job).size(), 3U);
    const requests::Result result = requests::run_as_workers(request, best());
    REQUIRE((result.failure && result.failure->code == Failure::Code::open));
  }
  HashRequest runs = request_of({requests::unchecked("/nowhere", (std::uint64_t{1} << 40) + 5)}, Version::v2,
                                std::uint64_t{1} << 40);
  JobState job(runs, best(), progress);
  REQUIRE_EQ(job.units, (std::uint64_t{1} << 20) + 1);
  REQUIRE_EQ(job.digests.layers.size(), 64U);
  REQUIRE(requests::run_as_workers(runs, best()).failure->code == Failure::Code::open);
}

TEST_CASE("JobState: rejects sizes that exceed memory or 64 bits") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto refused = [](const HashRequest& request) {
    Progress progress;
    try {
      JobState job(request, best(), progress);
      job.prepare();
      return job.failure && job.failure->code == Failure::Code::no_memory;
    } catch (const Failure& failure) {
      return failure.code == Failure::Code::no_memory;
    } catch (const std::bad_alloc&) {
      return true;
    }
  };
  for (const std::uint64_t length : {kHuge, kHuge + 1, 2 * kHuge, 3 * kHuge, kMost}) {
    for (const Version version : {Version::v1, Version::hybrid}) {
      INFO(length, ", ", requests::name_of(version));
      REQUIRE(refused(request_of({pad(length), pad(length), pad(length), pad(length)}, version, kHuge / 4)));
      REQUIRE(refused(request_of({pad(5), pad(length)}, version, kHuge / 4)));
      if (length > kHuge || throws_bad_alloc())
        REQUIRE(refused(request_of({requests::unchecked("/nowhere", length)}, version, kBlock)));
    }
    // Pieces of one byte: the size of the digests would overflow.
    REQUIRE(refused(request_of({pad(length)}, Version::v1, 1)));
    if (length > kHuge || throws_bad_alloc())
      REQUIRE(refused(request_of({requests::unchecked("/nowhere", length)}, Version::v2, kBlock)));
  }
  REQUIRE(refused(request_of(std::vector<RequestedFile>(100000, requests::unchecked("/nowhere", kMost)),
                             Version::v2, kHuge)));
}

TEST_CASE("worker_shape: buffers stay within the worker's share of memory, except for one read") {
  for (const Version version : requests::kVersions) {
    for (const std::uint64_t piece : {kBlock, 8 * kBlock, 4 * kMiB}) {
      for (std::uint64_t read = kBlock; read <= kMiB; read *= 2) {
        for (const std::uint64_t limit : {kBlock, read, 3 * read + 5, 64 * kMiB}) {
          for (const unsigned threads : {1, 3}) {
            HashRequest request = request_of({}, version, piece);
            request.read_size = read;
            request.memory_limit = limit;
            request.threads = threads;
            const metainfo::WorkerShape shape = metainfo::worker_shape(request);
            REQUIRE((shape.read_size >= kBlock && shape.read_size <= read && shape.read_size % kBlock == 0));
            REQUIRE((shape.lanes >= 1 && (version == Version::v2 || shape.lanes <= kMaxLanes)));
            REQUIRE((shape.lanes == 1 || shape.bytes() <= limit / threads));
            if (version != Version::v2) REQUIRE(shape.read_size <= piece);
          }
        }
      }
    }
  }
}
