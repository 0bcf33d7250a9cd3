// What workers make of a plan: both versions of worker, on their own and in jobs, beside a plain oracle.
#include "core/worker.h"

#ifdef __linux__
#include <sys/resource.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "files.h"
#include "hook_kernel.h"
#include "oracle.h"
#include "plans.h"
#include "rows.h"
#include "scale.h"
#include "threads.h"

using metainfo::Failure;
using metainfo::Gauge;
using metainfo::Kernels;
using metainfo::Version;
using metainfo::Plan;
using metainfo::PlanFile;
using metainfo::Work;
using oracle::Bytes;
using plans::kBlock;
using plans::kKinds;
using plans::kMiB;
using plans::name_of;
using plans::narrow;
using plans::pad;
using plans::padded;
using plans::plan_of;
using plans::Ran;
using plans::Setting;

namespace {

// Some ways to run a plan, drawn from all there are: others for each plan, the same in every run of the
// tests.
std::vector<Setting> drawn(const Plan& plan, std::size_t count) {
  std::uint64_t seed = plan.piece_length / 4 + 7 * static_cast<std::uint64_t>(plan.version);
  for (const PlanFile& file : plan.files) seed = seed * 31 + file.length + file.pad;
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483647) + 1);
  const auto one_of = [&random](const auto&... values) {
    const std::uint64_t all[] = {static_cast<std::uint64_t>(values)...};
    return all[random() / 64 % sizeof...(values)];
  };
  std::vector<Setting> settings;
  for (std::size_t i = 0; i < count; ++i) {
    Setting setting;
    setting.threads = static_cast<unsigned>(one_of(1, 2, 8));
    setting.read_size = one_of(kBlock, 2 * kBlock, 3 * kBlock, 8 * kBlock, kMiB);
    setting.reads = one_of(1, 2, 5, 16, 64);
    setting.kernels = &tables()[random() / 64 % tables().size()];
    setting.as_job = one_of(0, 1) != 0;
    settings.push_back(setting);
  }
  return settings;
}

void check_plan(const Plan& plan, std::size_t settings = 3) {
  const plans::Expected expected = plans::expect(plan);
  for (const Setting& setting : drawn(plan, std::max<std::size_t>(1, settings / thin())))
    plans::check_setting(plan, setting, expected);
}

// As each version, with each way of padding that it has.
void check_kinds(const std::vector<PlanFile>& files, std::uint64_t piece_length, bool mark_missing = false,
                 std::size_t settings = 3) {
  std::vector<Plan> plans = {plan_of(files, Version::v1, piece_length),
                             plan_of(padded(files, piece_length, true), Version::v1, piece_length)};
  if (piece_length >= kBlock && (piece_length & (piece_length - 1)) == 0) {
    plans.push_back(plan_of(files, Version::v2, piece_length));
    plans.push_back(plan_of(padded(files, piece_length, true), Version::v2, piece_length));
    plans.push_back(plan_of(padded(files, piece_length, true), Version::hybrid, piece_length));
    plans.push_back(plan_of(padded(files, piece_length, false), Version::hybrid, piece_length));
  }
  for (Plan& plan : plans) {
    plan.mark_missing = mark_missing;
    check_plan(plan, settings);
  }
}

std::vector<std::uint64_t> edge_sizes(std::uint64_t piece) {
  return {0, 1, kBlock - 1, kBlock, kBlock + 1, piece - 1, piece, piece + 1, 3 * piece + 5};
}

std::vector<PlanFile> files_of(const TempFolder& folder, const std::vector<std::uint64_t>& sizes) {
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    files.push_back(folder.add("file" + std::to_string(i), oracle::content(sizes[i], i)));
  return files;
}

// Files of all versions of sizes, some of them equal, some in the middle of a file, one longer than a batch of
// pieces. The same for one seed on every system.
std::vector<PlanFile> generated(const TempFolder& folder, std::uint64_t piece, unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::vector<std::uint64_t> sizes = edge_sizes(piece);
  const std::size_t count = 6 + below(8);
  const std::size_t large = piece == 1 ? count : below(count);
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = i == large ? 2 * kMiB + below(kMiB) : sizes[below(sizes.size())];
    const std::size_t before = below(3) == 0 ? 1 + below(5000) : 0;
    const std::size_t after = below(3) == 0 ? 1 + below(5000) : 0;
    Bytes bytes(before, 0xee);
    const Bytes content = oracle::content(length, below(3));
    bytes.insert(bytes.end(), content.begin(), content.end());
    bytes.insert(bytes.end(), after, 0xee);
    files.push_back(folder.add(std::to_string(i), bytes));
    files.back().offset = before;
    files.back().length = length;
  }
  return files;
}

PlanFile missing(const TempFolder& folder, std::uint64_t length, const std::string& name = "missing") {
  PlanFile file = plans::unchecked(folder.path(name), length);
  file.mtime_ms = 0;
  return file;
}

Failure failure_of(const Plan& plan, const Kernels& kernels = best(), bool as_job = true) {
  Ran ran = as_job ? plans::run_as_job(plan, kernels) : plans::run_as_workers(plan, kernels);
  if (!ran.failure) check::fail(__FILE__, __LINE__, "it did not fail");
  return *ran.failure;
}

Bytes part(const Bytes& bytes, std::size_t index, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// Plenty where every instruction takes long.
std::chrono::seconds soon() { return std::chrono::seconds(thin() == 1 ? 1 : 20); }

#ifdef __linux__
// Descriptors of files in a folder that this process holds.
std::size_t open_in(const std::string& folder) {
  std::size_t count = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    count += !gone && target.rfind(folder, 0) == 0;
  }
  return count;
}
#endif

}  // namespace

TEST("workers: every row, number of threads, size of reads and of memory, as workers and as a job") {
  const TempFolder folder;
  const std::vector<PlanFile> files = files_of(folder, {1, 0, 70000, 300000, kBlock, 5, kMiB + 1, 0, 32767});
  Some some;
  bool as_job = false;
  for (const std::uint64_t piece : {2 * kBlock, 128 * kBlock}) {
    for (const Version version : kKinds) {
      const Plan plan = plan_of(version == Version::hybrid ? padded(files, piece, true) : files, version, piece);
      const plans::Expected expected = plans::expect(plan);
      for (const Kernels& kernels : tables()) {
        for (const unsigned threads : {1, 2, 8}) {
          for (const std::uint64_t read_size : {kBlock, 4 * kBlock, kMiB}) {
            for (const std::uint64_t reads : {1, 5, 64}) {
              as_job = !as_job;
              if (!some.next()) continue;
              plans::check_setting(plan, {threads, read_size, reads, &kernels, as_job}, expected);
            }
          }
        }
      }
    }
  }
}

TEST("workers: one file of every size at an edge") {
  const TempFolder folder;
  Some some;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    for (const std::uint64_t size : edge_sizes(piece)) {
      if (!some.next()) continue;
      const check::Case round(std::to_string(size) + " bytes");
      check_kinds({folder.add("file", oracle::content(size, 1))}, piece, false, piece > kMiB ? 2 : 6);
    }
  }
}

TEST("workers: files of every size at an edge, one after the other") {
  const TempFolder folder;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    if (thin() != 1 && piece > kMiB / thin()) continue;
    check_kinds(files_of(folder, edge_sizes(piece)), piece);
    if (piece > kMiB) continue;
    std::vector<std::uint64_t> reversed = edge_sizes(piece);
    std::reverse(reversed.begin(), reversed.end());
    check_kinds(files_of(folder, reversed), piece);
  }
}

TEST("workers: seventeen pieces are one more than there are lanes") {
  const TempFolder folder;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    if (piece > kMiB / thin()) continue;
    for (const std::uint64_t more : {std::uint64_t{0}, kBlock + 5}) {
      const check::Case round("17 pieces and " + std::to_string(more));
      const PlanFile file = folder.add("file", oracle::content(17 * piece + more, 2));
      if (piece < kMiB) check_kinds({file}, piece, false, 6);
      if (piece == kMiB) check_kinds({file}, piece, false, 1);
      if (piece <= kMiB || more == 0) continue;
      for (const Version version : kKinds) check_plan(plan_of({file}, version, piece), 1);
    }
  }
}

TEST("workers: pieces of v1 may have any size") {
  const TempFolder folder;
  for (const std::uint64_t piece : {1, 63, 64, 65, 100, 1000, 1024, 16383, 16385, 100000}) {
    const check::Case round("pieces of " + std::to_string(piece));
    // Many pieces of a byte would be all there is to it.
    if (piece == 1) {
      check_kinds(files_of(folder, {0, 3, 1, 0, 3000}), piece);
    } else {
      check_kinds(files_of(folder, {0, 1, 2 * piece, 5, piece - 1, 0, 20 * piece + 7}), piece);
      if (piece >= 1000 && thin() == 1) check_kinds(generated(folder, piece, 1), piece);
    }
  }
}

TEST("workers: generated sets of files") {
  Some some;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock, 64 * kBlock, 128 * kBlock}) {
    for (unsigned seed = 1; seed <= (piece > 16 * kBlock ? 1 : 3); ++seed) {
      if (!some.next()) continue;
      const check::Case round("seed " + std::to_string(seed));
      const TempFolder folder;
      check_kinds(generated(folder, piece, seed), piece);
    }
  }
}

TEST("workers: many small files") {
  const TempFolder folder;
  std::minstd_rand random(3);
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < 400 / thin(); ++i) sizes.push_back(random() % 7 == 0 ? 0 : random() % 3000);
  const std::vector<PlanFile> files = files_of(folder, sizes);
  for (const std::uint64_t piece : {kBlock, 4 * kBlock}) check_kinds(files, piece);
  for (const Version version : {Version::v1, Version::v2}) check_plan(plan_of(files, version, kMiB));
}

TEST("workers: empty files at the start, in the middle and at the end") {
  const TempFolder folder;
  check_kinds(files_of(folder, {0, 0, 0, kBlock, 0, 0, 5, 0, 3 * kBlock + 5, 0, 0, 0, 7, 0, 0}), kBlock);
  check_kinds(files_of(folder, {0, 7, 0}), 2 * kBlock);
  check_kinds(files_of(folder, {7, 0, 0}), 2 * kBlock);
  check_kinds(files_of(folder, std::vector<std::uint64_t>(200, 0)), kBlock);
}

TEST("workers: nothing to hash gives nothing") {
  const TempFolder folder;
  check_kinds({}, kBlock);
  check_kinds(files_of(folder, {0, 0, 0}), kBlock);
}

TEST("workers: windows of one file") {
  const TempFolder folder;
  std::vector<PlanFile> files;
  const PlanFile whole = folder.add("stream", oracle::content(100000, 3));
  for (std::uint64_t at = 0; at < 100000; at += 40000) {
    files.push_back(whole);
    files.back().offset = at;
    files.back().length = std::min<std::uint64_t>(40000, 100000 - at);
  }
  check_kinds(files, kBlock);
}

TEST("workers: files of equal content have equal roots and layers") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(3 * kBlock + 5, 4);
  const Plan plan = plan_of({folder.add("a", bytes), folder.add("b", bytes)}, Version::v2, kBlock);
  const Ran ran = plans::run_as_job(plan, best());
  CHECK_EQUAL(part(ran.digests.roots, 0, 32), part(ran.digests.roots, 1, 32));
  CHECK_EQUAL(part(ran.digests.layers, 0, 128), part(ran.digests.layers, 1, 128));
}

TEST("workers: pads anywhere, of any length") {
  const TempFolder folder;
  const PlanFile file = folder.add("file", oracle::content(2 * kBlock + 1, 5));
  const PlanFile small = folder.add("small", oracle::content(100, 6));
  for (const Version version : {Version::v1, Version::hybrid}) {
    check_plan(plan_of({file, pad(4 * kBlock - 1), file, pad(kBlock - 1)}, version, kBlock));
    check_plan(plan_of({pad(3 * kBlock), file}, version, kBlock));
    check_plan(plan_of({file, pad(0), pad(1), pad(kBlock - 2), file}, version, kBlock));
    // Longer than many pieces, in the middle, at the end, alone; pieces of zeros in batches with others.
    check_plan(plan_of({file, pad(100 * kBlock - 1), file, pad(kBlock - 1)}, version, kBlock));
    check_plan(plan_of({file, pad(77 * kBlock)}, version, kBlock));
    check_plan(plan_of({pad(90 * kBlock + 5)}, version, kBlock));
    check_plan(plan_of({pad(5)}, version, kBlock));
    check_plan(plan_of({small, pad(2 * kMiB - 100), small, pad(5 * kMiB - 100), small}, version, kMiB));
    // Several in a row, of which some end a piece.
    check_plan(
        plan_of({small, pad(kBlock - 200), pad(100), pad(kBlock), pad(0), pad(2 * kBlock - 1), pad(1), small},
                version, kBlock));
  }
  // Only v1 has files that begin in a piece's middle, after zeros.
  check_plan(
      plan_of({small, pad(50), small, pad(63), pad(1), file, pad(7), small, pad(3 * kBlock + 9), small},
              Version::v1, kBlock));
  check_plan(plan_of({pad(10), small, pad(kBlock), small, pad(20)}, Version::v1, 4 * kBlock));
}

TEST("workers: content that ends at any place of a block, and zeros after it") {
  const TempFolder folder;
  const PlanFile whole = folder.add("file", oracle::content(kBlock, 7));
  Some some;
  for (std::uint64_t length = 1; length <= 200; ++length) {
    for (const std::uint64_t zeros : {0, 1, 7, 8, 9, 55, 56, 63, 64, 65, 200}) {
      if (!some.next()) continue;
      PlanFile file = whole;
      file.length = length;
      check_plan(plan_of({file, pad(zeros)}, Version::v1, kBlock), 1);
      if (length % 9 != 0) continue;
      // A file of a hybrid begins with a piece.
      file.offset = kBlock - length;
      check_plan(plan_of({whole, pad(kBlock), file, pad(zeros)}, Version::hybrid, 2 * kBlock), 1);
    }
  }
}

TEST("workers: missing files are marked where that is wanted") {
  Some some;
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, kBlock, kBlock + 1, 3 * kBlock + 5, 2 * kMiB}) {
    const TempFolder folder;
    const PlanFile absent = missing(folder, length);
    const std::vector<PlanFile> files = files_of(folder, {20000, 0, 3 * kBlock, 5});
    for (std::size_t at = 0; at <= files.size(); ++at) {
      if (!some.next()) continue;
      const check::Case round(std::to_string(length) + " bytes missing at " + std::to_string(at));
      std::vector<PlanFile> several = files;
      several.insert(several.begin() + static_cast<std::ptrdiff_t>(at), absent);
      check_kinds(several, kBlock, true);
    }
    PlanFile beneath = absent;
    beneath.path = files[0].path + "/beneath";
    check_kinds({absent, files[0], beneath, absent}, kBlock, true);
    check_kinds({absent}, 2 * kBlock, true);
  }
}

TEST("workers: pieces with several missing files, and some that span pieces, among others") {
  const TempFolder folder;
  std::minstd_rand random(5);
  Some some;
  for (unsigned round = 0; round < 12; ++round) {
    if (!some.next()) continue;
    const check::Case named("round " + std::to_string(round));
    std::vector<PlanFile> files;
    for (std::size_t i = 0; i < 30; ++i) {
      const std::uint64_t length = random() % 4 == 0 ? random() % (5 * kBlock) : random() % 3000;
      const std::string name = std::to_string(i);
      if (random() % 3 == 0) {
        files.push_back(missing(folder, length, "missing" + name));
      } else {
        files.push_back(folder.add(name, oracle::content(length, i)));
      }
    }
    check_kinds(files, kBlock, true);
    check_kinds(files, 4 * kBlock, true);
  }
}

TEST("workers: a missing file takes its own pieces only") {
  const TempFolder folder;
  const Bytes first = oracle::content(20000, 6);
  const Bytes last = oracle::content(20000, 7);
  Plan plan =
      plan_of({folder.add("a", first), missing(folder, 50000), folder.add("c", last)}, Version::v1, kBlock);
  plan.mark_missing = true;
  const Ran v1 = plans::run_as_job(plan, best());
  CHECK_EQUAL(v1.digests.missing, std::vector<std::uint32_t>{1});
  // The file covers bytes 20000 to 70000: pieces 1 to 4 of 6.
  const metainfo::Sha1Digest start = oracle::sha1(first.data(), kBlock);
  const metainfo::Sha1Digest end = oracle::sha1(&last[5 * kBlock - 70000], 90000 - 5 * kBlock);
  CHECK_EQUAL(part(v1.digests.v1, 0, 20), Bytes(start.begin(), start.end()));
  CHECK_EQUAL(part(v1.digests.v1, 5, 20), Bytes(end.begin(), end.end()));
  for (std::size_t piece = 1; piece <= 4; ++piece) CHECK_EQUAL(part(v1.digests.v1, piece, 20), Bytes(20));
  CHECK_EQUAL(v1.digests.v1.size(), 6 * 20U);

  plan.version = Version::v2;
  const Ran v2 = plans::run_as_job(plan, best());
  CHECK_EQUAL(v2.digests.missing, std::vector<std::uint32_t>{1});
  CHECK_EQUAL(part(v2.digests.roots, 1, 32), Bytes(32));
  CHECK(part(v2.digests.roots, 0, 32) != Bytes(32));
  CHECK(part(v2.digests.roots, 2, 32) != Bytes(32));
}

TEST("workers: a file that fails stops the job, with its path") {
  const TempFolder folder;
  std::vector<PlanFile> files = files_of(folder, {20000, kMiB, 5, kMiB, 20000});
  const PlanFile good = files[2];
  Some some;
  const auto fails = [&](const PlanFile& bad, Failure::Code code, int error, bool mark_missing) {
    files[2] = bad;
    for (const Version version : kKinds) {
      for (const unsigned threads : {1, 8}) {
        for (const bool as_job : {false, true}) {
          if (!some.next()) continue;
          const check::Case round(bad.path + ", " + name_of(version) + ", " + std::to_string(threads) +
                                  " threads");
          Plan plan = plan_of(padded(files, kBlock, true), version, kBlock);
          if (version == Version::v2) plan.files = files;
          plan.threads = threads;
          plan.mark_missing = mark_missing;
          const Failure failure = failure_of(plan, best(), as_job);
          CHECK(failure.code == code);
          CHECK_EQUAL(failure.error, error);
          CHECK_EQUAL(failure.path, bad.path);
        }
      }
    }
  };
  fails(missing(folder, 5), Failure::Code::open, ENOENT, false);
  fails(missing(folder, 0), Failure::Code::open, ENOENT, false);
  PlanFile bad = good;
  for (const std::uint64_t size : {4, 6, 0}) {
    bad.size = bad.length = size;
    fails(bad, Failure::Code::changed, 0, true);
  }
  bad = good;
  bad.mtime_ms += 1;
  fails(bad, Failure::Code::changed, 0, true);
  bad = good;
  bad.path = folder.path("folder");
  std::filesystem::create_directory(bad.path);
  fails(bad, Failure::Code::not_a_file, 0, true);
#ifndef _WIN32
  // Where the plan was made there was none.
  bad.path = folder.path("link");
  std::filesystem::create_symlink(good.path, bad.path);
  fails(bad, Failure::Code::changed, 0, true);
#endif
}

TEST("workers: an empty file that has grown, or is gone, is noticed among many") {
  const TempFolder folder;
  std::vector<PlanFile> files = files_of(folder, std::vector<std::uint64_t>(150, 0));
  files.push_back(folder.add("content", oracle::content(5, 1)));
  for (const std::size_t index : {0, 63, 64, 149}) {
    for (const Version version : kKinds) {
      const check::Case round(std::to_string(index) + ", " + name_of(version));
      std::vector<PlanFile> changed = files;
      changed[index] = folder.add("grown", {1});
      changed[index].size = changed[index].length = 0;
      const Failure failure = failure_of(plan_of(changed, version, kBlock));
      CHECK(failure.code == Failure::Code::changed);
      CHECK_EQUAL(failure.path, folder.path("grown"));
      changed[index] = missing(folder, 0);
      Plan plan = plan_of(changed, version, kBlock);
      plan.mark_missing = true;
      CHECK_EQUAL(plans::run_as_job(plan, best()).digests.missing,
                  std::vector<std::uint32_t>{static_cast<std::uint32_t>(index)});
    }
  }
}

TEST("workers: a failure stops the other threads") {
  const TempFolder folder;
  Plan plan = plan_of({folder.add("file", oracle::content(16 * kMiB, 8)), missing(folder, kMiB)}, Version::v1,
                      16 * kMiB);
  plan.threads = 2;
  // The file would take a second and more; to fail takes no time.
  const HookKernel slow([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  for (const bool as_job : {false, true}) {
    const Ran ran = as_job ? plans::run_as_job(narrow(plan), slow.kernels())
                           : plans::run_as_workers(narrow(plan), slow.kernels());
    CHECK_EQUAL(ran.failure->path, plan.files[1].path);
    CHECK(ran.bytes < 16 * kMiB);
  }
}

TEST("workers: a file that changes while it is hashed fails the job") {
  const auto changes = [](const char* what, const std::function<void(const std::string&)>& change) {
    for (const Version version : kKinds) {
      for (const std::uint64_t following : {0, 5}) {
        const check::Case round(std::string(what) + ", " + name_of(version));
        const TempFolder folder;
        // The first of them; what follows may be opened, or not, before the job ends.
        const Plan plan = narrow(plan_of(files_of(folder, {3 * kBlock, following}), version, kBlock));
        bool done = false;
        const HookKernel changing([&] {
          if (!done) change(plan.files[0].path);
          done = true;
        });
        const Failure failure = failure_of(plan, changing.kernels());
        CHECK(failure.code == Failure::Code::changed);
        CHECK_EQUAL(failure.path, plan.files[0].path);
      }
    }
  };
  changes("grows", [](const std::string& path) { write_file(path, {1}, std::ios::app); });
  changes("shrinks", [](const std::string& path) { std::filesystem::resize_file(path, 5); });
  changes("is written to", [](const std::string& path) { set_mtime(path, TempFolder::kSeconds + 1, 0); });
  if (deletion_is_told())
    changes("is deleted", [](const std::string& path) { std::filesystem::remove(path); });
#ifndef _WIN32  // where a file that is open cannot be replaced
  changes("is replaced", [](const std::string& path) {
    std::filesystem::copy(path, path + ".new");
    set_mtime(path + ".new", TempFolder::kSeconds, TempFolder::kNanoseconds);
    std::filesystem::rename(path + ".new", path);
  });
#endif
}

TEST("workers: a file whose pieces were read side by side is looked at again at the end") {
  for (const Version version : {Version::v1, Version::hybrid}) {
    const TempFolder folder;
    const Plan plan = plan_of(files_of(folder, {3 * kBlock}), version, kBlock);
    const HookKernel touching([&] { set_mtime(plan.files[0].path, TempFolder::kSeconds + 1, 0); });
    CHECK(failure_of(plan, touching.kernels()).code == Failure::Code::changed);
  }
}

TEST("workers: what a thread throws is told as a failure") {
  const TempFolder folder;
  for (const Version version : kKinds) {
    const Plan plan = plan_of(files_of(folder, {kBlock}), version, kBlock);
    const auto failure_from = [&plan](const std::function<void()>& hook) {
      const HookKernel kernel(hook);
      return failure_of(plan, kernel.kernels());
    };
    CHECK(failure_from([] { throw std::bad_alloc(); }).code == Failure::Code::no_memory);
    const Failure failure = failure_from([] { throw std::runtime_error("broken"); });
    CHECK(failure.code == Failure::Code::internal);
    CHECK_EQUAL(failure.detail, "broken");
  }
}

TEST("workers: a job that was cancelled reads nothing") {
  const TempFolder folder;
  for (const Version version : kKinds) {
    Gauge gauge;
    gauge.cancelled = true;
    Work work(plan_of(files_of(folder, {3 * kBlock}), version, kBlock), best(), gauge);
    const auto worker = plans::make_worker(work);
    CHECK_EQUAL(worker->batch(), 0U);
    worker->finish();
    CHECK_EQUAL(gauge.bytes.load(), 0U);
    CHECK(!work.failure);
  }
}

TEST("workers: a job that is cancelled in the middle stops before its next reads") {
  const TempFolder folder;
  for (const Version version : kKinds) {
    for (const bool wide : {false, true}) {
      const check::Case round(std::string(name_of(version)) + (wide ? ", wide" : ", narrow"));
      Gauge gauge;
      const HookKernel cancelling([&gauge] { gauge.cancelled = true; });
      Plan plan = plan_of(files_of(folder, {128 * kBlock}), version, 8 * kBlock);
      if (!wide) plan = narrow(plan);
      Work work(plan, cancelling.kernels(), gauge);
      const auto worker = plans::make_worker(work);
      CHECK_EQUAL(worker->batch(), 0U);
      // A slice in every lane, or the buffer of v2; one read more there.
      const std::uint64_t lanes = !wide ? 1 : version == Version::v2 ? 64 : 16;
      CHECK(gauge.bytes >= lanes * kBlock && gauge.bytes <= (lanes + (version == Version::v2)) * kBlock);
    }
  }
}

TEST("workers: terabytes of zeros end soon when they are cancelled") {
  const TempFolder folder;
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  for (const Version version : {Version::v1, Version::hybrid}) {
    for (const Kernels& kernels : {tables().front(), tables().back()}) {
      const check::Case round(std::string(name_of(version)) + ", " + name_of(kernels));
      Plan plan =
          plan_of({folder.add("file", oracle::content(kBlock, 1)), pad(40 * kTerabyte)}, version, 2 * kTerabyte);
      plan.threads = 2;
      metainfo::Budget budget({2, plans::kPlenty});
      metainfo::Job job(plan, kernels, budget);
      Tally finished;
      job.start([&] { finished.add(); });
      CHECK(eventually([&] { return job.gauge().bytes == kBlock; }));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      CHECK_EQUAL(finished.count(), 0U);
      const auto start = std::chrono::steady_clock::now();
      job.cancel();
      finished.wait();
      job.join();
      CHECK(std::chrono::steady_clock::now() - start < soon());
      CHECK(std::get<Failure>(job.outcome()).code == Failure::Code::aborted);
    }
  }
}

TEST("workers: a pad of many pieces is hashed once") {
  // A terabyte in pieces of 16 MiB would take minutes.
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  const Plan plan = plan_of({pad(kTerabyte)}, Version::v1, thin() == 1 ? 16 * kMiB : kMiB * 4);
  const Ran ran = plans::run_as_job(plan, best());
  const Bytes zeros(plan.piece_length);
  const metainfo::Sha1Digest wanted = oracle::sha1(zeros.data(), zeros.size());
  CHECK_EQUAL(ran.digests.v1.size(), kTerabyte / plan.piece_length * 20);
  for (std::size_t at = 0; at < ran.digests.v1.size(); at += 20)
    CHECK(std::equal(wanted.begin(), wanted.end(), ran.digests.v1.begin() + static_cast<std::ptrdiff_t>(at)));
  CHECK_EQUAL(ran.bytes, 0U);
}

TEST("workers: the gauge names the file that was opened last") {
  const TempFolder folder;
  const std::vector<PlanFile> files = files_of(folder, {5, kBlock, 7});
  CHECK_EQUAL(plans::run_as_job(plan_of(files, Version::v1, kBlock), best()).file_index, 2U);
  CHECK_EQUAL(plans::run_as_job(plan_of(files, Version::v2, kBlock), best()).file_index, 2U);
  // Empty files are looked at in the end.
  const std::vector<PlanFile> some = files_of(folder, {0, 5, 0, kBlock, 7});
  CHECK_EQUAL(plans::run_as_job(plan_of(some, Version::v1, kBlock), best()).file_index, 2U);
}

TEST("workers: the gauge counts content as it is read, and no pads") {
  const TempFolder folder;
  const std::vector<PlanFile> files = {folder.add("a", oracle::content(10 * kBlock + 5, 1)), pad(kBlock - 5),
                                       folder.add("b", oracle::content(100, 2))};
  for (const Version version : kKinds) {
    std::vector<std::uint64_t> seen;
    metainfo::Gauge gauge;
    const HookKernel reading([&] { seen.push_back(gauge.bytes); });
    Work work(narrow(plan_of(files, version, kBlock)), reading.kernels(), gauge);
    const auto worker = plans::make_worker(work);
    while (worker->batch() != 0) continue;
    CHECK_EQUAL(seen.front(), kBlock);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK_EQUAL(std::set<std::uint64_t>(seen.begin(), seen.end()).count(4 * kBlock), 1U);
    CHECK_EQUAL(gauge.bytes.load(), 10 * kBlock + 105);
  }
}

TEST("workers: a batch answers its bytes, and nothing is left after the last") {
  const TempFolder folder;
  const std::vector<PlanFile> files = files_of(folder, {100 * kBlock, 0, 70 * kBlock + 5});
  for (const Version version : kKinds) {
    const check::Case round(name_of(version));
    Gauge gauge;
    Work work(plan_of(files, version, kBlock), best(), gauge);
    const auto worker = plans::make_worker(work);
    std::uint64_t bytes = 0;
    while (const std::uint64_t done = worker->batch()) bytes += done;
    // Units are counted whole, so progress is made by any batch.
    const std::uint64_t unit = version == Version::v2 ? kMiB : kBlock;
    CHECK_EQUAL(bytes, work.units * unit);
    CHECK_EQUAL(worker->batch(), 0U);
    worker->finish();
    CHECK(!work.failure);
  }
}

#ifdef __linux__
TEST("workers: thousands of files need at most sixteen descriptors a worker") {
  const TempFolder folder;
  const std::string path = folder.path("");
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < (thin() == 1 ? 5000 : 800); ++i)
    files.push_back(folder.add(std::to_string(i), oracle::content(1 + i * 7 % 900, i)));
  for (const Version version : kKinds) {
    for (const unsigned threads : {1, 2}) {
      const check::Case round(std::string(name_of(version)) + ", " + std::to_string(threads) + " threads");
      Plan plan = plan_of(version == Version::hybrid ? padded(files, kBlock, true) : files, version, kBlock);
      plan.threads = threads;
      std::atomic<std::size_t> most{0};
      std::atomic<unsigned> calls{0};
      const HookKernel counting([&] {
        if (calls++ % 8 != 0) return;
        const std::size_t now = open_in(path);
        std::size_t seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
      });
      const Ran ran = plans::run_as_workers(plan, counting.kernels());
      CHECK(!ran.failure);
      CHECK(most <= 16 * threads);
      CHECK(calls > 40);
      CHECK_EQUAL(open_in(path), 0U);
    }
  }
  // The system agrees, of one worker.
  rlimit usual;
  ::getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit few = {open_in("/") + 24, usual.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const Ran v1 = plans::run_as_job(plan_of(files, Version::v1, 4 * kBlock), best());
  const Ran v2 = plans::run_as_job(plan_of(files, Version::v2, kBlock), best());
  ::setrlimit(RLIMIT_NOFILE, &usual);
  CHECK(!v1.failure);
  CHECK(!v2.failure);
}

TEST("workers: pieces of sixteen files at a time keep their descriptors") {
  const TempFolder folder;
  // Each spans pieces, so none can be closed with its first.
  const std::vector<PlanFile> files = files_of(folder, std::vector<std::uint64_t>(40, 5 * kBlock));
  for (const Version version : {Version::v1, Version::hybrid}) {
    const Plan plan = plan_of(files, version, kBlock);
    std::size_t most = 0;
    const HookKernel counting([&] { most = std::max(most, open_in(folder.path(""))); });
    plans::check_ran(plans::run_as_workers(plan, counting.kernels()), plans::expect(plan));
    CHECK(most >= 2 && most <= 16);
  }
}
#endif

TEST("workers: a file that appears, or is gone, between two workers has changed") {
  const TempFolder folder;
  Plan plan = narrow(plan_of(files_of(folder, {8 * kMiB}), Version::v1, kMiB));
  plan.mark_missing = true;
  plan.threads = 2;
  plan.memory_limit = 2 * plan.read_size;
  Gauge gauge;
  if (deletion_is_told()) {
    Work work(plan, best(), gauge);
    const auto first = plans::make_worker(work);
    const auto second = plans::make_worker(work);
    CHECK(first->batch() != 0);
    std::filesystem::remove(plan.files[0].path);
    CHECK_EQUAL(second->batch(), 0U);
    CHECK(work.failure->code == Failure::Code::changed);
    CHECK_EQUAL(work.failure->path, plan.files[0].path);
  }

  std::filesystem::remove(plan.files[0].path);
  Work absent(plan, best(), gauge);
  const auto early = plans::make_worker(absent);
  const auto late = plans::make_worker(absent);
  CHECK(early->batch() != 0);
  files_of(folder, {8 * kMiB});
  CHECK_EQUAL(late->batch(), 0U);
  CHECK(absent.failure->code == Failure::Code::changed);
}
