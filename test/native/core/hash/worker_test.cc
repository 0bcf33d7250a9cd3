// Tests both workers, with and without a job, against the plain oracle.
#include "core/hash/worker.h"

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

#include "files.h"
#include "hook_kernel.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "plans.h"
#include "scale.h"
#include "test.h"
#include "threads.h"

using metainfo::Failure;
using metainfo::HashRequest;
using metainfo::JobState;
using metainfo::Kernels;
using metainfo::Progress;
using metainfo::RequestedFile;
using metainfo::Version;
using oracle::Bytes;
using requests::kBlock;
using requests::kMiB;
using requests::kVersions;
using requests::name_of;
using requests::narrow;
using requests::pad;
using requests::padded;
using requests::request_of;
using requests::Result;
using requests::Setting;

namespace {

// Draws some settings to hash a request with: different ones for each request, the same in every run of the
// tests.
std::vector<Setting> drawn(const HashRequest& request, std::size_t count) {
  std::uint64_t seed = request.piece_length / 4 + 7 * static_cast<std::uint64_t>(request.version);
  for (const RequestedFile& file : request.files) seed = seed * 31 + file.length + file.pad;
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
    setting.kernels = &kernel_lists()[random() / 64 % kernel_lists().size()];
    setting.as_job = one_of(0, 1) != 0;
    settings.push_back(setting);
  }
  return settings;
}

void check_request(const HashRequest& request, std::size_t settings = 3) {
  const requests::Expected expected = requests::expect(request);
  for (const Setting& setting : drawn(request, std::max<std::size_t>(1, settings / thin())))
    requests::check_setting(request, setting, expected);
}

// A request without pad files, which says instead how many files have their last piece filled up.
HashRequest filled(const std::vector<RequestedFile>& files, Version version, std::uint64_t piece_length,
                   std::size_t padded_files) {
  HashRequest request = request_of(files, version, piece_length);
  request.padded_files = padded_files;
  return request;
}

// Checks the files as requests of each version, with each way of padding.
void check_versions(const std::vector<RequestedFile>& files, std::uint64_t piece_length,
                    bool mark_missing = false, std::size_t settings = 3) {
  std::vector<HashRequest> requests = {
      request_of(files, Version::v1, piece_length),
      request_of(padded(files, piece_length, true), Version::v1, piece_length)};
  if (piece_length >= kBlock && (piece_length & (piece_length - 1)) == 0) {
    requests.push_back(request_of(files, Version::v2, piece_length));
    requests.push_back(request_of(padded(files, piece_length, true), Version::v2, piece_length));
    requests.push_back(request_of(padded(files, piece_length, true), Version::hybrid, piece_length));
    requests.push_back(request_of(padded(files, piece_length, false), Version::hybrid, piece_length));
    requests.push_back(filled(files, Version::hybrid, piece_length, files.size()));
    requests.push_back(filled(files, Version::hybrid, piece_length, files.size() - 1));
  }
  requests.push_back(filled(files, Version::v1, piece_length, files.size()));
  requests.push_back(filled(files, Version::v1, piece_length, files.size() / 2));
  for (HashRequest& request : requests) {
    request.mark_missing = mark_missing;
    check_request(request, settings);
  }
}

std::vector<std::uint64_t> edge_sizes(std::uint64_t piece) {
  return {0, 1, kBlock - 1, kBlock, kBlock + 1, piece - 1, piece, piece + 1, 3 * piece + 5};
}

std::vector<RequestedFile> files_of(const TempFolder& folder, const std::vector<std::uint64_t>& sizes) {
  std::vector<RequestedFile> files;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    files.push_back(folder.add("file" + std::to_string(i), oracle::content(sizes[i], i)));
  return files;
}

// Random files of edge-case sizes: some equal, some inside a larger file, one longer than a part of the
// request. A seed gives the same files on every system.
std::vector<RequestedFile> generated(const TempFolder& folder, std::uint64_t piece, unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::vector<std::uint64_t> sizes = edge_sizes(piece);
  const std::size_t count = 6 + below(8);
  const std::size_t large = piece == 1 ? count : below(count);
  std::vector<RequestedFile> files;
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

RequestedFile missing(const TempFolder& folder, std::uint64_t length, const std::string& name = "missing") {
  RequestedFile file = requests::unchecked(folder.path(name), length);
  file.mtime_ms = 0;
  return file;
}

Failure failure_of(const HashRequest& request, const Kernels& kernels = best(), bool as_job = true) {
  Result result =
      as_job ? requests::run_as_job(request, kernels) : requests::run_as_workers(request, kernels);
  REQUIRE(result.failure.has_value());
  return *result.failure;
}

Bytes part(const Bytes& bytes, std::size_t index, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(index * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// A generous time limit where every instruction is slow.
std::chrono::seconds soon() { return std::chrono::seconds(thin() == 1 ? 1 : 20); }

#ifdef __linux__
// The number of descriptors that this process has open in a folder.
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

TEST_CASE("workers: every kernel, number of threads, read size and memory limit, with and without a job") {
  const TempFolder folder;
  const std::vector<RequestedFile> files =
      files_of(folder, {1, 0, 70000, 300000, kBlock, 5, kMiB + 1, 0, 32767});
  Sample sample;
  bool as_job = false;
  for (const std::uint64_t piece : {2 * kBlock, 128 * kBlock}) {
    for (const Version version : kVersions) {
      const HashRequest request =
          request_of(version == Version::hybrid ? padded(files, piece, true) : files, version, piece);
      const requests::Expected expected = requests::expect(request);
      for (const Kernels& kernels : kernel_lists()) {
        for (const unsigned threads : {1, 2, 8}) {
          for (const std::uint64_t read_size : {kBlock, 4 * kBlock, kMiB}) {
            for (const std::uint64_t reads : {1, 5, 64}) {
              as_job = !as_job;
              if (!sample.next()) continue;
              requests::check_setting(request, {threads, read_size, reads, &kernels, as_job}, expected);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("workers: one file of each edge-case size") {
  const TempFolder folder;
  Sample sample;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    for (const std::uint64_t size : edge_sizes(piece)) {
      if (!sample.next()) continue;
      INFO(size, " bytes");
      check_versions({folder.add("file", oracle::content(size, 1))}, piece, false, piece > kMiB ? 2 : 6);
    }
  }
}

TEST_CASE("workers: files of all edge-case sizes, one after the other") {
  const TempFolder folder;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    if (thin() != 1 && piece > kMiB / thin()) continue;
    check_versions(files_of(folder, edge_sizes(piece)), piece);
    if (piece > kMiB) continue;
    std::vector<std::uint64_t> reversed = edge_sizes(piece);
    std::reverse(reversed.begin(), reversed.end());
    check_versions(files_of(folder, reversed), piece);
  }
}

TEST_CASE("workers: seventeen pieces, one more than there are lanes") {
  const TempFolder folder;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, kMiB, 2 * kMiB, 4 * kMiB}) {
    if (piece > kMiB / thin()) continue;
    for (const std::uint64_t more : {std::uint64_t{0}, kBlock + 5}) {
      INFO("17 pieces and ", more);
      const RequestedFile file = folder.add("file", oracle::content(17 * piece + more, 2));
      if (piece < kMiB) check_versions({file}, piece, false, 6);
      if (piece == kMiB) check_versions({file}, piece, false, 1);
      if (piece <= kMiB || more == 0) continue;
      for (const Version version : kVersions) check_request(request_of({file}, version, piece), 1);
    }
  }
}

TEST_CASE("workers: v1 pieces may have any length") {
  const TempFolder folder;
  for (const std::uint64_t piece : {1, 63, 64, 65, 100, 1000, 1024, 16383, 16385, 100000}) {
    INFO("pieces of ", piece);
    // With pieces of one byte, larger files would take too long.
    if (piece == 1) {
      check_versions(files_of(folder, {0, 3, 1, 0, 3000}), piece);
    } else {
      check_versions(files_of(folder, {0, 1, 2 * piece, 5, piece - 1, 0, 20 * piece + 7}), piece);
      if (piece >= 1000 && thin() == 1) check_versions(generated(folder, piece, 1), piece);
    }
  }
}

TEST_CASE("workers: randomly generated sets of files") {
  Sample sample;
  for (const std::uint64_t piece : {kBlock, 2 * kBlock, 16 * kBlock, 64 * kBlock, 128 * kBlock}) {
    for (unsigned seed = 1; seed <= (piece > 16 * kBlock ? 1 : 3); ++seed) {
      if (!sample.next()) continue;
      INFO("seed ", seed);
      const TempFolder folder;
      check_versions(generated(folder, piece, seed), piece);
    }
  }
}

TEST_CASE("workers: many small files") {
  const TempFolder folder;
  std::minstd_rand random(3);
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < 400 / thin(); ++i) sizes.push_back(random() % 7 == 0 ? 0 : random() % 3000);
  const std::vector<RequestedFile> files = files_of(folder, sizes);
  for (const std::uint64_t piece : {kBlock, 4 * kBlock}) check_versions(files, piece);
  for (const Version version : {Version::v1, Version::v2}) check_request(request_of(files, version, kMiB));
}

TEST_CASE("workers: empty files at the start, in the middle and at the end") {
  const TempFolder folder;
  check_versions(files_of(folder, {0, 0, 0, kBlock, 0, 0, 5, 0, 3 * kBlock + 5, 0, 0, 0, 7, 0, 0}), kBlock);
  check_versions(files_of(folder, {0, 7, 0}), 2 * kBlock);
  check_versions(files_of(folder, {7, 0, 0}), 2 * kBlock);
  check_versions(files_of(folder, std::vector<std::uint64_t>(200, 0)), kBlock);
}

TEST_CASE("workers: an empty request gives empty digests") {
  const TempFolder folder;
  check_versions({}, kBlock);
  check_versions(files_of(folder, {0, 0, 0}), kBlock);
}

TEST_CASE("workers: several ranges of one file") {
  const TempFolder folder;
  std::vector<RequestedFile> files;
  const RequestedFile whole = folder.add("stream", oracle::content(100000, 3));
  for (std::uint64_t at = 0; at < 100000; at += 40000) {
    files.push_back(whole);
    files.back().offset = at;
    files.back().length = std::min<std::uint64_t>(40000, 100000 - at);
  }
  check_versions(files, kBlock);
}

TEST_CASE("workers: files with equal content have equal roots and layers") {
  const TempFolder folder;
  const Bytes bytes = oracle::content(3 * kBlock + 5, 4);
  const HashRequest request =
      request_of({folder.add("a", bytes), folder.add("b", bytes)}, Version::v2, kBlock);
  const Result result = requests::run_as_job(request, best());
  REQUIRE_EQ(part(result.digests.roots, 0, 32), part(result.digests.roots, 1, 32));
  REQUIRE_EQ(part(result.digests.layers, 0, 128), part(result.digests.layers, 1, 128));
}

TEST_CASE("workers: pad files anywhere, of any length") {
  const TempFolder folder;
  const RequestedFile file = folder.add("file", oracle::content(2 * kBlock + 1, 5));
  const RequestedFile small = folder.add("small", oracle::content(100, 6));
  for (const Version version : {Version::v1, Version::hybrid}) {
    check_request(request_of({file, pad(4 * kBlock - 1), file, pad(kBlock - 1)}, version, kBlock));
    check_request(request_of({pad(3 * kBlock), file}, version, kBlock));
    check_request(request_of({file, pad(0), pad(1), pad(kBlock - 2), file}, version, kBlock));
    // Longer than many pieces, in the middle, at the end and alone; pieces of zeros among other pieces.
    check_request(request_of({file, pad(100 * kBlock - 1), file, pad(kBlock - 1)}, version, kBlock));
    check_request(request_of({file, pad(77 * kBlock)}, version, kBlock));
    check_request(request_of({pad(90 * kBlock + 5)}, version, kBlock));
    check_request(request_of({pad(5)}, version, kBlock));
    check_request(request_of({small, pad(2 * kMiB - 100), small, pad(5 * kMiB - 100), small}, version, kMiB));
    // Several in a row; some end a piece.
    check_request(request_of(
        {small, pad(kBlock - 200), pad(100), pad(kBlock), pad(0), pad(2 * kBlock - 1), pad(1), small},
        version, kBlock));
  }
  // Only in v1, a file may start inside a piece, after zeros.
  check_request(
      request_of({small, pad(50), small, pad(63), pad(1), file, pad(7), small, pad(3 * kBlock + 9), small},
                 Version::v1, kBlock));
  check_request(request_of({pad(10), small, pad(kBlock), small, pad(20)}, Version::v1, 4 * kBlock));
}

TEST_CASE("workers: content may end anywhere in a block, with zeros after it") {
  const TempFolder folder;
  const RequestedFile whole = folder.add("file", oracle::content(kBlock, 7));
  Sample sample;
  for (std::uint64_t length = 1; length <= 200; ++length) {
    for (const std::uint64_t zeros : {0, 1, 7, 8, 9, 55, 56, 63, 64, 65, 200}) {
      if (!sample.next()) continue;
      RequestedFile file = whole;
      file.length = length;
      check_request(request_of({file, pad(zeros)}, Version::v1, kBlock), 1);
      if (length % 9 != 0) continue;
      // In a hybrid request, a file starts at a piece.
      file.offset = kBlock - length;
      check_request(request_of({whole, pad(kBlock), file, pad(zeros)}, Version::hybrid, 2 * kBlock), 1);
    }
  }
}

TEST_CASE("workers: missing files are marked if the request says so") {
  Sample sample;
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, kBlock, kBlock + 1, 3 * kBlock + 5, 2 * kMiB}) {
    const TempFolder folder;
    const RequestedFile absent = missing(folder, length);
    const std::vector<RequestedFile> files = files_of(folder, {20000, 0, 3 * kBlock, 5});
    for (std::size_t at = 0; at <= files.size(); ++at) {
      if (!sample.next()) continue;
      INFO(length, " bytes missing at ", at);
      std::vector<RequestedFile> several = files;
      several.insert(several.begin() + static_cast<std::ptrdiff_t>(at), absent);
      check_versions(several, kBlock, true);
    }
    RequestedFile beneath = absent;
    beneath.path = files[0].path + "/beneath";
    check_versions({absent, files[0], beneath, absent}, kBlock, true);
    check_versions({absent}, 2 * kBlock, true);
  }
}

TEST_CASE("workers: missing files that share a piece or span several") {
  const TempFolder folder;
  std::minstd_rand random(5);
  Sample sample;
  for (unsigned round = 0; round < 12; ++round) {
    if (!sample.next()) continue;
    INFO("round ", round);
    std::vector<RequestedFile> files;
    for (std::size_t i = 0; i < 30; ++i) {
      const std::uint64_t length = random() % 4 == 0 ? random() % (5 * kBlock) : random() % 3000;
      const std::string name = std::to_string(i);
      if (random() % 3 == 0) {
        files.push_back(missing(folder, length, "missing" + name));
      } else {
        files.push_back(folder.add(name, oracle::content(length, i)));
      }
    }
    check_versions(files, kBlock, true);
    check_versions(files, 4 * kBlock, true);
  }
}

TEST_CASE("workers: a missing file affects only its own pieces") {
  const TempFolder folder;
  const Bytes first = oracle::content(20000, 6);
  const Bytes last = oracle::content(20000, 7);
  HashRequest request = request_of({folder.add("a", first), missing(folder, 50000), folder.add("c", last)},
                                   Version::v1, kBlock);
  request.mark_missing = true;
  const Result v1 = requests::run_as_job(request, best());
  REQUIRE_EQ(v1.digests.missing, std::vector<std::uint32_t>{1});
  // The file covers bytes 20000 to 70000: pieces 1 to 4 of 6.
  const metainfo::Sha1Digest start = oracle::sha1(first.data(), kBlock);
  const metainfo::Sha1Digest end = oracle::sha1(&last[5 * kBlock - 70000], 90000 - 5 * kBlock);
  REQUIRE_EQ(part(v1.digests.v1, 0, 20), Bytes(start.begin(), start.end()));
  REQUIRE_EQ(part(v1.digests.v1, 5, 20), Bytes(end.begin(), end.end()));
  for (std::size_t piece = 1; piece <= 4; ++piece) REQUIRE_EQ(part(v1.digests.v1, piece, 20), Bytes(20));
  REQUIRE_EQ(v1.digests.v1.size(), 6 * 20U);

  request.version = Version::v2;
  const Result v2 = requests::run_as_job(request, best());
  REQUIRE_EQ(v2.digests.missing, std::vector<std::uint32_t>{1});
  REQUIRE_EQ(part(v2.digests.roots, 1, 32), Bytes(32));
  REQUIRE(part(v2.digests.roots, 0, 32) != Bytes(32));
  REQUIRE(part(v2.digests.roots, 2, 32) != Bytes(32));
}

TEST_CASE("workers: a file that cannot be read fails the job with its path") {
  const TempFolder folder;
  std::vector<RequestedFile> files = files_of(folder, {20000, kMiB, 5, kMiB, 20000});
  const RequestedFile good = files[2];
  Sample sample;
  const auto fails = [&](const RequestedFile& bad, Failure::Code code, int error, bool mark_missing) {
    files[2] = bad;
    for (const Version version : kVersions) {
      for (const unsigned threads : {1, 8}) {
        for (const bool as_job : {false, true}) {
          if (!sample.next()) continue;
          INFO(bad.path, ", ", name_of(version), ", ", threads, " threads");
          HashRequest request = request_of(padded(files, kBlock, true), version, kBlock);
          if (version == Version::v2) request.files = files;
          request.threads = threads;
          request.mark_missing = mark_missing;
          const Failure failure = failure_of(request, best(), as_job);
          REQUIRE(failure.code == code);
          REQUIRE_EQ(failure.error, error);
          REQUIRE_EQ(failure.path, bad.path);
        }
      }
    }
  };
  fails(missing(folder, 5), Failure::Code::open, ENOENT, false);
  fails(missing(folder, 0), Failure::Code::open, ENOENT, false);
  RequestedFile bad = good;
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
  // When the request was made, the file did not exist.
  bad.path = folder.path("link");
  std::filesystem::create_symlink(good.path, bad.path);
  fails(bad, Failure::Code::changed, 0, true);
#endif
}

TEST_CASE("workers: detect one empty file of many that has grown or was deleted") {
  const TempFolder folder;
  std::vector<RequestedFile> files = files_of(folder, std::vector<std::uint64_t>(150, 0));
  files.push_back(folder.add("content", oracle::content(5, 1)));
  for (const std::size_t index : {0, 63, 64, 149}) {
    for (const Version version : kVersions) {
      INFO(index, ", ", name_of(version));
      std::vector<RequestedFile> changed = files;
      changed[index] = folder.add("grown", {1});
      changed[index].size = changed[index].length = 0;
      const Failure failure = failure_of(request_of(changed, version, kBlock));
      REQUIRE(failure.code == Failure::Code::changed);
      REQUIRE_EQ(failure.path, folder.path("grown"));
      changed[index] = missing(folder, 0);
      HashRequest request = request_of(changed, version, kBlock);
      request.mark_missing = true;
      REQUIRE_EQ(requests::run_as_job(request, best()).digests.missing,
                 std::vector<std::uint32_t>{static_cast<std::uint32_t>(index)});
    }
  }
}

TEST_CASE("workers: a failure stops the other threads") {
  const TempFolder folder;
  HashRequest request = request_of({folder.add("file", oracle::content(16 * kMiB, 8)), missing(folder, kMiB)},
                                   Version::v1, 16 * kMiB);
  request.threads = 2;
  // Hashing the file would take more than a second; the failure comes at once.
  const HookKernel slow([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  for (const bool as_job : {false, true}) {
    const Result result = as_job ? requests::run_as_job(narrow(request), slow.kernels())
                                 : requests::run_as_workers(narrow(request), slow.kernels());
    REQUIRE_EQ(result.failure->path, request.files[1].path);
    REQUIRE(result.bytes < 16 * kMiB);
  }
}

TEST_CASE("workers: a file that changes while it is hashed fails the job") {
  const auto changes = [](const std::string& what, const std::function<void(const std::string&)>& change) {
    for (const Version version : kVersions) {
      for (const std::uint64_t following : {0, 5}) {
        INFO(what, ", ", name_of(version));
        const TempFolder folder;
        // Changes the first file; the next one may or may not be opened before the job ends.
        const HashRequest request =
            narrow(request_of(files_of(folder, {3 * kBlock, following}), version, kBlock));
        bool done = false;
        const HookKernel changing([&] {
          if (!done) change(request.files[0].path);
          done = true;
        });
        const Failure failure = failure_of(request, changing.kernels());
        REQUIRE(failure.code == Failure::Code::changed);
        REQUIRE_EQ(failure.path, request.files[0].path);
      }
    }
  };
  changes("grows", [](const std::string& path) { write_file(path, {1}, std::ios::app); });
  changes("shrinks", [](const std::string& path) { std::filesystem::resize_file(path, 5); });
  changes("is written to", [](const std::string& path) { set_mtime(path, TempFolder::kSeconds + 1, 0); });
  if (deletion_is_told())
    changes("is deleted", [](const std::string& path) { std::filesystem::remove(path); });
#ifndef _WIN32  // Windows does not let an open file be replaced
  changes("is replaced", [](const std::string& path) {
    std::filesystem::copy(path, path + ".new");
    set_mtime(path + ".new", TempFolder::kSeconds, TempFolder::kNanoseconds);
    std::filesystem::rename(path + ".new", path);
  });
#endif
}

TEST_CASE("workers: a file whose pieces are read side by side is checked again at the end") {
  for (const Version version : {Version::v1, Version::hybrid}) {
    const TempFolder folder;
    const HashRequest request = request_of(files_of(folder, {3 * kBlock}), version, kBlock);
    const HookKernel touching([&] { set_mtime(request.files[0].path, TempFolder::kSeconds + 1, 0); });
    REQUIRE(failure_of(request, touching.kernels()).code == Failure::Code::changed);
  }
}

TEST_CASE("workers: an exception in a worker becomes a failure of the job") {
  const TempFolder folder;
  for (const Version version : kVersions) {
    const HashRequest request = request_of(files_of(folder, {kBlock}), version, kBlock);
    const auto failure_from = [&request](const std::function<void()>& hook) {
      const HookKernel kernel(hook);
      return failure_of(request, kernel.kernels());
    };
    REQUIRE(failure_from([] { throw std::bad_alloc(); }).code == Failure::Code::no_memory);
    const Failure failure = failure_from([] { throw std::runtime_error("broken"); });
    REQUIRE(failure.code == Failure::Code::internal);
    REQUIRE_EQ(failure.detail, "broken");
  }
}

TEST_CASE("workers: a job that is cancelled before it starts reads nothing") {
  const TempFolder folder;
  for (const Version version : kVersions) {
    Progress progress;
    progress.cancelled = true;
    JobState job(request_of(files_of(folder, {3 * kBlock}), version, kBlock), best(), progress);
    const auto worker = requests::make_worker(job);
    REQUIRE_EQ(worker->do_part(), 0U);
    worker->finish();
    REQUIRE_EQ(progress.bytes.load(), 0U);
    REQUIRE(!job.failure);
  }
}

TEST_CASE("workers: a cancelled job stops before its next read") {
  const TempFolder folder;
  for (const Version version : kVersions) {
    for (const bool wide : {false, true}) {
      INFO(name_of(version), wide ? std::string(", wide") : ", narrow");
      Progress progress;
      const HookKernel cancelling([&progress] { progress.cancelled = true; });
      HashRequest request = request_of(files_of(folder, {128 * kBlock}), version, 8 * kBlock);
      if (!wide) request = narrow(request);
      JobState job(request, cancelling.kernels(), progress);
      const auto worker = requests::make_worker(job);
      REQUIRE_EQ(worker->do_part(), 0U);
      // One read per lane, or the whole buffer in v2, where one more read may follow.
      const std::uint64_t lanes = !wide ? 1 : version == Version::v2 ? 64 : 16;
      REQUIRE((progress.bytes >= lanes * kBlock &&
               progress.bytes <= (lanes + (version == Version::v2)) * kBlock));
    }
  }
}

TEST_CASE("workers: terabytes of zeros can be cancelled quickly") {
  const TempFolder folder;
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  for (const Version version : {Version::v1, Version::hybrid}) {
    for (const Kernels& kernels : {kernel_lists().front(), kernel_lists().back()}) {
      INFO(name_of(version), ", ", name_of(kernels));
      HashRequest request = request_of({folder.add("file", oracle::content(kBlock, 1)), pad(40 * kTerabyte)},
                                       version, 2 * kTerabyte);
      request.threads = 2;
      metainfo::Budget budget({2, requests::kAmpleMemory});
      metainfo::Job job(request, kernels, budget);
      Tally finished;
      job.start([&] { finished.add(); });
      REQUIRE(eventually([&] { return job.progress().bytes == kBlock; }));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      REQUIRE_EQ(finished.count(), 0U);
      const auto start = std::chrono::steady_clock::now();
      job.cancel();
      finished.wait();
      job.join();
      REQUIRE(std::chrono::steady_clock::now() - start < soon());
      REQUIRE(std::get<Failure>(job.outcome()).code == Failure::Code::aborted);
    }
  }
}

TEST_CASE("workers: a pad file of many pieces is hashed once") {
  // Hashing a terabyte would take minutes.
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  const HashRequest request = request_of({pad(kTerabyte)}, Version::v1, thin() == 1 ? 16 * kMiB : kMiB * 4);
  const Result result = requests::run_as_job(request, best());
  const Bytes zeros(request.piece_length);
  const metainfo::Sha1Digest wanted = oracle::sha1(zeros.data(), zeros.size());
  REQUIRE_EQ(result.digests.v1.size(), kTerabyte / request.piece_length * 20);
  for (std::size_t at = 0; at < result.digests.v1.size(); at += 20)
    REQUIRE(std::equal(wanted.begin(), wanted.end(),
                       result.digests.v1.begin() + static_cast<std::ptrdiff_t>(at)));
  REQUIRE_EQ(result.bytes, 0U);
}

TEST_CASE("workers: progress names the file that was opened last") {
  const TempFolder folder;
  const std::vector<RequestedFile> files = files_of(folder, {5, kBlock, 7});
  REQUIRE_EQ(requests::run_as_job(request_of(files, Version::v1, kBlock), best()).file_index, 2U);
  REQUIRE_EQ(requests::run_as_job(request_of(files, Version::v2, kBlock), best()).file_index, 2U);
  // Empty files are checked last.
  const std::vector<RequestedFile> some = files_of(folder, {0, 5, 0, kBlock, 7});
  REQUIRE_EQ(requests::run_as_job(request_of(some, Version::v1, kBlock), best()).file_index, 2U);
}

TEST_CASE("workers: progress counts content as it is read, without pad files") {
  const TempFolder folder;
  const std::vector<RequestedFile> files = {folder.add("a", oracle::content(10 * kBlock + 5, 1)),
                                            pad(kBlock - 5), folder.add("b", oracle::content(100, 2))};
  for (const Version version : kVersions) {
    std::vector<std::uint64_t> seen;
    metainfo::Progress progress;
    const HookKernel reading([&] { seen.push_back(progress.bytes); });
    JobState job(narrow(request_of(files, version, kBlock)), reading.kernels(), progress);
    const auto worker = requests::make_worker(job);
    while (worker->do_part() != 0) continue;
    REQUIRE_EQ(seen.front(), kBlock);
    REQUIRE(std::is_sorted(seen.begin(), seen.end()));
    REQUIRE_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).count(4 * kBlock), 1U);
    REQUIRE_EQ(progress.bytes.load(), 10 * kBlock + 105);
  }
}

TEST_CASE("workers: do_part() returns the bytes of each part, then 0") {
  const TempFolder folder;
  const std::vector<RequestedFile> files = files_of(folder, {100 * kBlock, 0, 70 * kBlock + 5});
  for (const Version version : kVersions) {
    INFO(name_of(version));
    Progress progress;
    JobState job(request_of(files, version, kBlock), best(), progress);
    const auto worker = requests::make_worker(job);
    std::uint64_t bytes = 0;
    while (const std::uint64_t done = worker->do_part()) bytes += done;
    // do_part() counts whole units, so its result is never 0 before the end.
    const std::uint64_t unit = version == Version::v2 ? kMiB : kBlock;
    REQUIRE_EQ(bytes, job.units * unit);
    REQUIRE_EQ(worker->do_part(), 0U);
    worker->finish();
    REQUIRE(!job.failure);
  }
}

#ifdef __linux__
TEST_CASE("workers: thousands of files need at most sixteen descriptors per worker") {
  const TempFolder folder;
  const std::string path = folder.path("");
  std::vector<RequestedFile> files;
  for (std::size_t i = 0; i < (thin() == 1 ? 5000 : 800); ++i)
    files.push_back(folder.add(std::to_string(i), oracle::content(1 + i * 7 % 900, i)));
  for (const Version version : kVersions) {
    for (const unsigned threads : {1, 2}) {
      INFO(name_of(version), ", ", threads, " threads");
      HashRequest request =
          request_of(version == Version::hybrid ? padded(files, kBlock, true) : files, version, kBlock);
      request.threads = threads;
      std::atomic<std::size_t> most{0};
      std::atomic<unsigned> calls{0};
      const HookKernel counting([&] {
        if (calls++ % 8 != 0) return;
        const std::size_t now = open_in(path);
        std::size_t seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
      });
      const Result result = requests::run_as_workers(request, counting.kernels());
      REQUIRE(!result.failure);
      REQUIRE(most <= 16 * threads);
      REQUIRE(calls > 40);
      REQUIRE_EQ(open_in(path), 0U);
    }
  }
  // The system enforces the limit for one worker.
  rlimit usual;
  ::getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit few = {open_in("/") + 24, usual.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const Result v1 = requests::run_as_job(request_of(files, Version::v1, 4 * kBlock), best());
  const Result v2 = requests::run_as_job(request_of(files, Version::v2, kBlock), best());
  ::setrlimit(RLIMIT_NOFILE, &usual);
  REQUIRE(!v1.failure);
  REQUIRE(!v2.failure);
}

TEST_CASE("workers: pieces of sixteen files side by side do not reopen files") {
  const TempFolder folder;
  // Each file spans several pieces, so none can be closed after its first piece.
  const std::vector<RequestedFile> files = files_of(folder, std::vector<std::uint64_t>(40, 5 * kBlock));
  for (const Version version : {Version::v1, Version::hybrid}) {
    const HashRequest request = request_of(files, version, kBlock);
    std::size_t most = 0;
    const HookKernel counting([&] { most = std::max(most, open_in(folder.path(""))); });
    requests::check_result(requests::run_as_workers(request, counting.kernels()), requests::expect(request));
    REQUIRE((most >= 2 && most <= 16));
  }
}
#endif

TEST_CASE("workers: a file that appears or disappears between two workers has changed") {
  const TempFolder folder;
  HashRequest request = narrow(request_of(files_of(folder, {8 * kMiB}), Version::v1, kMiB));
  request.mark_missing = true;
  request.threads = 2;
  request.memory_limit = 2 * request.read_size;
  Progress progress;
  if (deletion_is_told()) {
    JobState job(request, best(), progress);
    const auto first = requests::make_worker(job);
    const auto second = requests::make_worker(job);
    REQUIRE(first->do_part() != 0);
    std::filesystem::remove(request.files[0].path);
    REQUIRE_EQ(second->do_part(), 0U);
    REQUIRE(job.failure->code == Failure::Code::changed);
    REQUIRE_EQ(job.failure->path, request.files[0].path);
  }

  std::filesystem::remove(request.files[0].path);
  JobState absent(request, best(), progress);
  const auto early = requests::make_worker(absent);
  const auto late = requests::make_worker(absent);
  REQUIRE(early->do_part() != 0);
  files_of(folder, {8 * kMiB});
  REQUIRE_EQ(late->do_part(), 0U);
  REQUIRE(absent.failure->code == Failure::Code::changed);
}
