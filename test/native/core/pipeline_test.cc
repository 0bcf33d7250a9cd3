#include "core/pipeline.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "core/merkle.h"
#include "files.h"
#include "hook_kernel.h"
#include "oracle.h"
#include "threads.h"

using metainfo::Digests;
using metainfo::Failure;
using metainfo::Gauge;
using metainfo::hash_plan;
using metainfo::Kernel;
using metainfo::Kind;
using metainfo::Plan;
using metainfo::PlanFile;
using oracle::Bytes;

namespace {

constexpr std::uint64_t kBlock = metainfo::kBlockSize;
constexpr std::uint64_t kMiB = 1 << 20;

const Kernel& kernel() { return *metainfo::select_kernel(nullptr); }

const char* name_of(Kind kind) { return kind == Kind::v1 ? "v1" : kind == Kind::v2 ? "v2" : "hybrid"; }

PlanFile pad(std::uint64_t length) {
  PlanFile file;
  file.pad = true;
  file.length = length;
  return file;
}

// After every file that does not end with a piece; after the last one by choice, as readers know both.
std::vector<PlanFile> padded(const std::vector<PlanFile>& files, std::uint64_t piece_length, bool tail) {
  std::vector<PlanFile> all;
  for (const PlanFile& file : files) {
    all.push_back(file);
    if (file.length % piece_length != 0) all.push_back(pad(piece_length - file.length % piece_length));
  }
  if (!tail && !all.empty() && all.back().pad) all.pop_back();
  return all;
}

Plan plan_of(std::vector<PlanFile> files, Kind kind, std::uint64_t piece_length) {
  Plan plan;
  plan.files = std::move(files);
  plan.kind = kind;
  plan.piece_length = piece_length;
  plan.read_size = kBlock;
  return plan;
}

// What a plan must hash to.
struct Expected {
  Digests digests;
  std::uint64_t bytes = 0;
};

// A file's tree as BEP 52 draws it: all leaves of the tree in memory, those past the end zero.
void expect_tree(const Bytes& content, std::uint64_t piece_length, std::uint8_t* root, Bytes& layers) {
  oracle::Hashes leaves;
  for (std::size_t at = 0; at < content.size(); at += kBlock)
    leaves.push_back(oracle::sha256(&content[at], std::min<std::size_t>(kBlock, content.size() - at)));
  std::size_t width = 1;
  while (width < leaves.size()) width *= 2;
  leaves.resize(width);
  const metainfo::Sha256Digest top = oracle::root(leaves.data(), width);
  std::copy(top.begin(), top.end(), root);
  if (content.size() <= piece_length) return;
  const std::size_t blocks = piece_length / kBlock;
  for (std::size_t at = 0; at * kBlock < content.size(); at += blocks) {
    const metainfo::Sha256Digest hash = oracle::root(&leaves[at], blocks);
    layers.insert(layers.end(), hash.begin(), hash.end());
  }
}

// Everything in memory, hashed plainly. A file that cannot be opened is missing.
Expected expect(const Plan& plan) {
  Expected expected;
  expected.digests.roots.resize(plan.kind == Kind::v1 ? 0 : plan.files.size() * 32);
  Bytes stream;
  std::vector<bool> absent;
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const PlanFile& file = plan.files[i];
    Bytes content(file.length);
    bool missing = false;
    if (!file.pad && file.length != 0) {
      std::ifstream source(file.path, std::ios::binary);
      missing = !source;
      source.seekg(static_cast<std::streamoff>(file.offset));
      source.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
      if (missing) {
        expected.digests.missing.push_back(static_cast<std::uint32_t>(i));
        const std::uint64_t pieces = (file.length + plan.piece_length - 1) / plan.piece_length;
        if (plan.kind != Kind::v1 && pieces > 1)
          expected.digests.layers.resize(expected.digests.layers.size() + pieces * 32);
      } else {
        expected.bytes += file.length;
        if (plan.kind != Kind::v1)
          expect_tree(content, plan.piece_length, &expected.digests.roots[i * 32], expected.digests.layers);
      }
    }
    if (plan.kind == Kind::v2) continue;
    stream.insert(stream.end(), content.begin(), content.end());
    absent.resize(stream.size(), missing);
  }
  for (std::size_t at = 0; at < stream.size(); at += plan.piece_length) {
    const std::size_t size = std::min<std::size_t>(plan.piece_length, stream.size() - at);
    const auto begin = absent.begin() + static_cast<std::ptrdiff_t>(at);
    metainfo::Sha1Digest digest{};
    if (std::find(begin, begin + static_cast<std::ptrdiff_t>(size), true) ==
        begin + static_cast<std::ptrdiff_t>(size))
      digest = oracle::sha1(&stream[at], size);
    expected.digests.v1.insert(expected.digests.v1.end(), digest.begin(), digest.end());
  }
  return expected;
}

void check_digests(const Digests& actual, const Digests& expected) {
  CHECK_EQUAL(actual.v1, expected.v1);
  CHECK_EQUAL(actual.roots, expected.roots);
  CHECK_EQUAL(actual.layers, expected.layers);
  CHECK_EQUAL(actual.missing, expected.missing);
}

// With few and many threads, and reads that are as large as a leaf, a piece, or more.
void check_plan(Plan plan) {
  const Expected expected = expect(plan);
  for (const unsigned threads : {1, 2, 8}) {
    for (const std::uint64_t read_size : {kBlock, kMiB}) {
      plan.threads = threads;
      plan.read_size = read_size;
      const check::Case round(std::string(name_of(plan.kind)) + ", pieces of " +
                              std::to_string(plan.piece_length) + ", " + std::to_string(threads) +
                              " threads, reads of " + std::to_string(read_size));
      Gauge gauge;
      check_digests(hash_plan(plan, kernel(), gauge), expected.digests);
      CHECK_EQUAL(gauge.bytes.load(), expected.bytes);
    }
  }
}

// As each kind, with each way of padding that it has.
void check_kinds(const std::vector<PlanFile>& files, std::uint64_t piece_length, bool mark_missing = false) {
  std::vector<Plan> plans = {plan_of(files, Kind::v1, piece_length),
                             plan_of(padded(files, piece_length, true), Kind::v1, piece_length)};
  if (piece_length >= kBlock) {
    plans.push_back(plan_of(files, Kind::v2, piece_length));
    plans.push_back(plan_of(padded(files, piece_length, true), Kind::hybrid, piece_length));
    plans.push_back(plan_of(padded(files, piece_length, false), Kind::hybrid, piece_length));
  }
  for (Plan& plan : plans) {
    plan.mark_missing = mark_missing;
    check_plan(plan);
  }
}

std::vector<std::uint64_t> edge_sizes(std::uint64_t piece) {
  return {0, 1, kBlock - 1, kBlock, kBlock + 1, piece - 1, piece, piece + 1, 3 * piece + 5};
}

// Files of all kinds of sizes, some of them equal, some in the middle of a file, one longer than a batch of
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

std::vector<PlanFile> files_of(const TempFolder& folder, const std::vector<std::uint64_t>& sizes) {
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    files.push_back(folder.add("file" + std::to_string(i), oracle::content(sizes[i], i)));
  return files;
}

PlanFile missing(const TempFolder& folder, std::uint64_t length) {
  PlanFile file;
  file.path = folder.path("missing");
  file.length = file.size = length;
  return file;
}

Failure failure_of(const Plan& plan, const Kernel& row = kernel()) {
  Gauge gauge;
  return CHECK_THROWS(Failure, hash_plan(plan, row, gauge));
}

Bytes part(const Bytes& bytes, std::size_t index, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

TEST("pipeline: one file of every size at an edge") {
  const TempFolder folder;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock}) {
    for (const std::uint64_t size : edge_sizes(piece)) {
      const check::Case round(std::to_string(size) + " bytes");
      check_kinds({folder.add("file", oracle::content(size, 1))}, piece);
    }
  }
}

TEST("pipeline: small v1 pieces") {
  const TempFolder folder;
  for (const std::uint64_t piece : {1, 64, 1024}) check_kinds(generated(folder, piece, 1), piece);
}

TEST("pipeline: generated sets of files") {
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const check::Case round("seed " + std::to_string(seed));
      const TempFolder folder;
      check_kinds(generated(folder, piece, seed), piece);
    }
  }
}

TEST("pipeline: empty files at the start, in the middle and at the end") {
  const TempFolder folder;
  check_kinds(files_of(folder, {0, 0, 0, kBlock, 0, 0, 5, 0, 3 * kBlock + 5, 0, 0, 0, 7, 0, 0}), kBlock);
  check_kinds(files_of(folder, {0, 7, 0}), 2 * kBlock);
  check_kinds(files_of(folder, {7, 0, 0}), 2 * kBlock);
}

TEST("pipeline: nothing to hash gives nothing") {
  const TempFolder folder;
  check_kinds({}, kBlock);
  check_kinds(files_of(folder, {0, 0, 0}), kBlock);
}

TEST("pipeline: windows of one file") {
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

TEST("pipeline: files of equal content have equal roots and layers") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(3 * kBlock + 5, 4);
  const Plan plan = plan_of({folder.add("a", bytes), folder.add("b", bytes)}, Kind::v2, kBlock);
  Gauge gauge;
  const Digests digests = hash_plan(plan, kernel(), gauge);
  CHECK_EQUAL(part(digests.roots, 0, 32), part(digests.roots, 1, 32));
  CHECK_EQUAL(part(digests.layers, 0, 128), part(digests.layers, 1, 128));
}

TEST("pipeline: a pad may be longer than a piece, or stand first") {
  const TempFolder folder;
  const PlanFile file = folder.add("file", oracle::content(2 * kBlock + 1, 5));
  for (const Kind kind : {Kind::v1, Kind::hybrid}) {
    check_plan(plan_of({file, pad(4 * kBlock - 1), file, pad(kBlock - 1)}, kind, kBlock));
    check_plan(plan_of({pad(3 * kBlock), file}, kind, kBlock));
    check_plan(plan_of({file, pad(0), pad(1), pad(kBlock - 2), file}, kind, kBlock));
  }
}

TEST("pipeline: a hybrid plan whose files are not aligned is refused") {
  const TempFolder folder;
  const std::vector<PlanFile> files = files_of(folder, {kBlock + 1, 0, 5});
  const Failure failure = failure_of(plan_of(files, Kind::hybrid, kBlock));
  CHECK(failure.code == Failure::Code::internal);
  CHECK_EQUAL(failure.path, files[2].path);
  std::vector<PlanFile> nearly = files;
  nearly.insert(nearly.begin() + 1, pad(kBlock - 2));
  CHECK(failure_of(plan_of(nearly, Kind::hybrid, kBlock)).code == Failure::Code::internal);
}

TEST("pipeline: missing files are marked where that is wanted") {
  for (const std::uint64_t length : {std::uint64_t{1}, kBlock, kBlock + 1, 3 * kBlock + 5, 2 * kMiB}) {
    const TempFolder folder;
    const PlanFile absent = missing(folder, length);
    const std::vector<PlanFile> files = files_of(folder, {20000, 0, 3 * kBlock, 5});
    for (std::size_t at = 0; at <= files.size(); ++at) {
      const check::Case round(std::to_string(length) + " bytes missing at " + std::to_string(at));
      std::vector<PlanFile> some = files;
      some.insert(some.begin() + static_cast<std::ptrdiff_t>(at), absent);
      check_kinds(some, kBlock, true);
    }
    PlanFile beneath = absent;
    beneath.path = files[0].path + "/beneath";
    check_kinds({absent, files[0], beneath, absent}, kBlock, true);
    check_kinds({absent}, 2 * kBlock, true);
  }
}

TEST("pipeline: a missing file takes its own pieces only") {
  const TempFolder folder;
  const Bytes first = oracle::content(20000, 6);
  const Bytes last = oracle::content(20000, 7);
  Plan plan =
      plan_of({folder.add("a", first), missing(folder, 50000), folder.add("c", last)}, Kind::v1, kBlock);
  plan.mark_missing = true;
  Gauge gauge;
  const Digests v1 = hash_plan(plan, kernel(), gauge);
  CHECK_EQUAL(v1.missing, std::vector<std::uint32_t>{1});
  // The file covers bytes 20000 to 70000: pieces 1 to 4 of 6.
  const metainfo::Sha1Digest start = oracle::sha1(first.data(), kBlock);
  const metainfo::Sha1Digest end = oracle::sha1(&last[5 * kBlock - 70000], 90000 - 5 * kBlock);
  CHECK_EQUAL(part(v1.v1, 0, 20), Bytes(start.begin(), start.end()));
  CHECK_EQUAL(part(v1.v1, 5, 20), Bytes(end.begin(), end.end()));
  for (std::size_t piece = 1; piece <= 4; ++piece) CHECK_EQUAL(part(v1.v1, piece, 20), Bytes(20));
  CHECK_EQUAL(v1.v1.size(), 6 * 20U);

  plan.kind = Kind::v2;
  const Digests v2 = hash_plan(plan, kernel(), gauge);
  CHECK_EQUAL(v2.missing, std::vector<std::uint32_t>{1});
  CHECK_EQUAL(part(v2.roots, 1, 32), Bytes(32));
  CHECK(part(v2.roots, 0, 32) != Bytes(32));
  CHECK(part(v2.roots, 2, 32) != Bytes(32));
}

TEST("pipeline: a file that fails stops the job, with its path") {
  const TempFolder folder;
  std::vector<PlanFile> files = files_of(folder, {20000, kMiB, 5, kMiB, 20000});
  const PlanFile good = files[2];
  const auto fails = [&](const PlanFile& bad, Failure::Code code, int error, bool mark_missing) {
    files[2] = bad;
    for (const Kind kind : {Kind::v1, Kind::v2, Kind::hybrid}) {
      for (const unsigned threads : {1, 8}) {
        const check::Case round(bad.path + ", " + name_of(kind) + ", " + std::to_string(threads) +
                                " threads");
        Plan plan = plan_of(padded(files, kBlock, true), kind, kBlock);
        if (kind == Kind::v2) plan.files = files;
        plan.threads = threads;
        plan.mark_missing = mark_missing;
        const Failure failure = failure_of(plan);
        CHECK(failure.code == code);
        CHECK_EQUAL(failure.error, error);
        CHECK_EQUAL(failure.path, bad.path);
      }
    }
  };
  fails(missing(folder, 5), Failure::Code::open, ENOENT, false);
  PlanFile bad = good;
  bad.size = bad.length = 6;
  fails(bad, Failure::Code::changed, 0, true);
  bad = good;
  bad.path = folder.path("folder");
  CHECK_EQUAL(::mkdir(bad.path.c_str(), 0700), 0);
  fails(bad, Failure::Code::not_a_file, 0, true);
  bad.path = folder.path("loop");
  std::filesystem::create_symlink(bad.path, bad.path);
  fails(bad, Failure::Code::open, ELOOP, true);
}

TEST("pipeline: a failure stops the other threads") {
  const TempFolder folder;
  Plan plan = plan_of({folder.add("file", oracle::content(16 * kMiB, 8)), missing(folder, kMiB)}, Kind::v1,
                      16 * kMiB);
  plan.threads = 2;
  // The file would take a second and more; to fail takes no time.
  const HookKernel slow([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  Gauge gauge;
  CHECK_EQUAL(CHECK_THROWS(Failure, hash_plan(plan, slow.kernel(), gauge)).path, plan.files[1].path);
  CHECK(gauge.bytes < 16 * kMiB);
}

TEST("pipeline: a file that changes while it is hashed fails the job") {
  const auto changes = [](const char* what, const std::function<void(const std::string&)>& change) {
    for (const std::uint64_t following : {0, 5}) {
      const check::Case round(what);
      const TempFolder folder;
      // The first of them; what follows may be opened, or not, before the job ends.
      const Plan plan = plan_of(files_of(folder, {3 * kBlock, following}), Kind::v1, kBlock);
      bool done = false;
      const HookKernel changing([&] {
        if (!done) change(plan.files[0].path);
        done = true;
      });
      const Failure failure = failure_of(plan, changing.kernel());
      CHECK(failure.code == Failure::Code::changed);
      CHECK_EQUAL(failure.path, plan.files[0].path);
    }
  };
  changes("grows", [](const std::string& path) { write_file(path, {1}, std::ios::app); });
  changes("shrinks", [](const std::string& path) { std::filesystem::resize_file(path, 5); });
  changes("is written to", [](const std::string& path) { set_mtime(path, TempFolder::kSeconds + 1, 0); });
  changes("is deleted", [](const std::string& path) { std::filesystem::remove(path); });
  changes("is replaced", [](const std::string& path) {
    std::filesystem::copy(path, path + ".new");
    set_mtime(path + ".new", TempFolder::kSeconds, TempFolder::kNanoseconds);
    std::filesystem::rename(path + ".new", path);
  });
}

TEST("pipeline: what a thread throws is told as a failure") {
  const TempFolder folder;
  const Plan plan = plan_of(files_of(folder, {kBlock}), Kind::v1, kBlock);
  const auto failure_from = [&plan](const std::function<void()>& hook) {
    return failure_of(plan, HookKernel(hook).kernel());
  };
  CHECK(failure_from([] { throw std::bad_alloc(); }).code == Failure::Code::no_memory);
  const Failure failure = failure_from([] { throw std::runtime_error("broken"); });
  CHECK(failure.code == Failure::Code::internal);
  CHECK_EQUAL(failure.detail, "broken");
}

TEST("pipeline: a cancelled job reads nothing and says so") {
  const TempFolder folder;
  for (const Kind kind : {Kind::v1, Kind::v2, Kind::hybrid}) {
    Gauge gauge;
    gauge.cancelled = true;
    const Plan plan = plan_of(files_of(folder, {3 * kBlock}), kind, kBlock);
    CHECK(CHECK_THROWS(Failure, hash_plan(plan, kernel(), gauge)).code == Failure::Code::aborted);
    CHECK_EQUAL(gauge.bytes.load(), 0U);
  }
}

TEST("pipeline: a job cancelled in the middle stops before its next buffer") {
  const TempFolder folder;
  const Plan plan = plan_of(files_of(folder, {64 * kBlock, 5}), Kind::v1, 64 * kBlock);
  Gauge gauge;
  const HookKernel cancelling([&gauge] { gauge.cancelled = true; });
  CHECK(CHECK_THROWS(Failure, hash_plan(plan, cancelling.kernel(), gauge)).code == Failure::Code::aborted);
  CHECK_EQUAL(gauge.bytes.load(), kBlock);
}

TEST("pipeline: to be cancelled outweighs a failure") {
  const TempFolder folder;
  Gauge gauge;
  gauge.cancelled = true;
  const Plan plan = plan_of({missing(folder, 5)}, Kind::v1, kBlock);
  CHECK(CHECK_THROWS(Failure, hash_plan(plan, kernel(), gauge)).code == Failure::Code::aborted);
}

TEST("pipeline: the gauge names the file that was opened last") {
  const TempFolder folder;
  const Plan plan = plan_of(files_of(folder, {5, 0, kBlock, 7, 0, 0}), Kind::v1, kBlock);
  Gauge gauge;
  hash_plan(plan, kernel(), gauge);
  CHECK_EQUAL(gauge.file_index.load(), 3U);
}

TEST("pipeline: uses as many threads as it may, this one among them, and no more") {
  const TempFolder folder;
  Plan plan = plan_of(files_of(folder, {8 * kMiB}), Kind::v1, kMiB);
  for (const unsigned threads : {1, 2, 4}) {
    const check::Case round(std::to_string(threads));
    plan.threads = threads;
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto count = [&] {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.insert(std::this_thread::get_id());
      return seen.size();
    };
    // Holds each thread in its first piece until all have one; not for ever where too few come.
    const HookKernel meeting([&] {
      for (int i = 0; count() < threads && i < 5000; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    Gauge gauge;
    hash_plan(plan, meeting.kernel(), gauge);
    CHECK_EQUAL(seen.size(), threads);
    CHECK_EQUAL(seen.count(std::this_thread::get_id()), 1U);
  }
}

TEST("pipeline: work for one thread starts no other") {
  const TempFolder folder;
  Plan plan = plan_of(files_of(folder, {kMiB}), Kind::v1, kBlock);
  plan.threads = 8;
  std::atomic<bool> other{false};
  const HookKernel watching([&, self = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != self) other = true;
  });
  Gauge gauge;
  hash_plan(plan, watching.kernel(), gauge);
  CHECK(!other);
}

#ifdef __GLIBC__
TEST("pipeline: where no thread can be started, the one there is does the work") {
  const TempFolder folder;
  Plan plan = plan_of(files_of(folder, {4 * kMiB + 5}), Kind::v2, kBlock);
  plan.threads = 8;
  const Expected expected = expect(plan);
  const NoThreads none;
  Gauge gauge;
  check_digests(hash_plan(plan, kernel(), gauge), expected.digests);
}
#endif

TEST("pipeline: thousands of files need few descriptors") {
  const TempFolder folder;
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < 3000; ++i)
    files.push_back(folder.add(std::to_string(i), oracle::content(1 + i % 3000, i)));
  rlimit usual;
  ::getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit few = {32, usual.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::string failure;
  try {
    check_plan(plan_of(files, Kind::v1, 4 * kBlock));
    check_plan(plan_of(files, Kind::v2, kBlock));
  } catch (const Failure& thrown) {
    failure = thrown.path + ": " + std::to_string(thrown.error);
  }
  ::setrlimit(RLIMIT_NOFILE, &usual);
  CHECK_EQUAL(failure, "");
}
