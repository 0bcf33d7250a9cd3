// Plans for tests, their expected digests, and helpers that hash them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/hash/hash_request.h"
#include "core/hash/job.h"
#include "core/hash/job_state.h"
#include "core/hash/merkle.h"
#include "core/hash/worker.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "test.h"
#include "threads.h"

namespace requests {

using metainfo::Digests;
using metainfo::Failure;
using metainfo::HashRequest;
using metainfo::Kernels;
using metainfo::RequestedFile;
using metainfo::Version;
using oracle::Bytes;

constexpr std::uint64_t kBlock = metainfo::kBlockSize;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kAmpleMemory = std::size_t{1} << 30;
constexpr Version kVersions[] = {Version::v1, Version::v2, Version::hybrid};

inline std::string name_of(Version version) {
  return version == Version::v1 ? "v1" : version == Version::v2 ? "v2" : "hybrid";
}

inline RequestedFile pad(std::uint64_t length) {
  RequestedFile file;
  file.pad = true;
  file.length = length;
  return file;
}

inline RequestedFile unchecked(const std::string& path, std::uint64_t length) {
  RequestedFile file;
  file.path = path;
  file.length = file.size = length;
  file.mtime_ms = std::numeric_limits<double>::quiet_NaN();
  return file;
}

// Adds a pad file after each file that does not end with a piece. `tail`: also after the last file, because
// readers must accept both.
inline std::vector<RequestedFile> padded(const std::vector<RequestedFile>& files, std::uint64_t piece_length,
                                         bool tail) {
  std::vector<RequestedFile> all;
  for (const RequestedFile& file : files) {
    all.push_back(file);
    if (file.length % piece_length != 0) all.push_back(pad(piece_length - file.length % piece_length));
  }
  if (!tail && !all.empty() && all.back().pad) all.pop_back();
  return all;
}

// One thread, small reads, and memory for all lanes.
inline HashRequest request_of(std::vector<RequestedFile> files, Version version, std::uint64_t piece_length) {
  HashRequest request;
  request.files = std::move(files);
  request.version = version;
  request.piece_length = piece_length;
  request.read_size = kBlock;
  request.memory_limit = kAmpleMemory;
  return request;
}

// The same request with memory for one read at a time, so that tests know what is read when.
inline HashRequest narrow(HashRequest request) {
  request.memory_limit = request.threads * request.read_size;
  return request;
}

// The digests that a request must have.
struct Expected {
  Digests digests;
  std::uint64_t bytes = 0;
};

// Computes the tree of a file as BEP 52 describes it: with all leaves in memory, those past the end zero.
inline void expect_tree(const Bytes& content, std::uint64_t piece_length, std::uint8_t* root, Bytes& layers) {
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

// Hashes a request plainly, with all content in memory. A file that cannot be opened is missing.
inline Expected expect(const HashRequest& request) {
  Expected expected;
  expected.digests.roots.resize(request.version == Version::v1 ? 0 : request.files.size() * 32);
  Bytes stream;
  // The ranges of missing files in `stream`.
  std::vector<std::pair<std::size_t, std::size_t>> absent;
  for (std::size_t i = 0; i < request.files.size(); ++i) {
    const RequestedFile& file = request.files[i];
    Bytes content(file.length);
    bool missing = false;
    if (!file.pad) {
      std::ifstream source(file.path, std::ios::binary);
      missing = !source;
      source.seekg(static_cast<std::streamoff>(file.offset));
      source.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
      if (missing) {
        expected.digests.missing.push_back(static_cast<std::uint32_t>(i));
        const std::uint64_t pieces = (file.length + request.piece_length - 1) / request.piece_length;
        if (request.version != Version::v1 && pieces > 1)
          expected.digests.layers.resize(expected.digests.layers.size() + pieces * 32);
      } else if (file.length != 0) {
        expected.bytes += file.length;
        if (request.version != Version::v1)
          expect_tree(content, request.piece_length, &expected.digests.roots[i * 32],
                      expected.digests.layers);
      }
    }
    if (request.version == Version::v2) continue;
    if (missing && file.length != 0) absent.push_back({stream.size(), stream.size() + content.size()});
    stream.insert(stream.end(), content.begin(), content.end());
    if (i < request.padded_files) {
      const std::size_t rest = stream.size() % request.piece_length;
      if (rest != 0) stream.resize(stream.size() + request.piece_length - rest);
    }
  }
  for (std::size_t at = 0; at < stream.size(); at += request.piece_length) {
    const std::size_t size = std::min<std::size_t>(request.piece_length, stream.size() - at);
    const bool touched = std::any_of(absent.begin(), absent.end(), [&](const auto& range) {
      return range.first < at + size && range.second > at;
    });
    const metainfo::Sha1Digest digest = touched ? metainfo::Sha1Digest{} : oracle::sha1(&stream[at], size);
    expected.digests.v1.insert(expected.digests.v1.end(), digest.begin(), digest.end());
  }
  return expected;
}

struct Result {
  std::optional<Failure> failure;
  Digests digests;
  std::uint64_t bytes = 0;
  std::uint32_t file_index = 0;
};

// Hashes a request as a job with a budget of its own, of `limit` threads or as many as the request wants.
inline Result run_as_job(const HashRequest& request, const Kernels& kernels, unsigned limit = 0) {
  metainfo::Budget budget({limit == 0 ? request.threads : limit, std::uint64_t{1} << 40});
  metainfo::Job job(request, kernels, budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  Result result;
  result.bytes = job.progress().bytes;
  result.file_index = job.progress().file_index;
  if (auto* failure = std::get_if<Failure>(&job.outcome())) {
    result.failure = std::move(*failure);
  } else {
    result.digests = std::move(std::get<Digests>(job.outcome()));
  }
  REQUIRE_EQ(finished.count(), 1U);
  return result;
}

inline std::unique_ptr<metainfo::Worker> make_worker(metainfo::JobState& job) {
  return job.request.version == Version::v2 ? metainfo::make_leaf_worker(job)
                                            : metainfo::make_piece_worker(job);
}

// Hashes a request with workers but without a job: on this thread, or on as many others as the request wants.
inline Result run_as_workers(const HashRequest& request, const Kernels& kernels) {
  metainfo::Progress progress;
  metainfo::JobState job(request, kernels, progress);
  const auto run = [&job] {
    const std::unique_ptr<metainfo::Worker> worker = make_worker(job);
    while (worker->do_part() != 0) continue;
    worker->finish();
  };
  if (request.threads == 1) {
    run();
  } else {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < request.threads; ++i) threads.emplace_back(run);
    for (std::thread& thread : threads) thread.join();
  }
  Result result;
  result.failure = job.failure;
  for (std::size_t i = 0; i < job.missing.size(); ++i) {
    if (job.missing[i]) job.digests.missing.push_back(static_cast<std::uint32_t>(i));
  }
  result.digests = std::move(job.digests);
  result.bytes = progress.bytes;
  result.file_index = progress.file_index;
  return result;
}

inline void check_result(const Result& result, const Expected& expected) {
  if (result.failure) throw *result.failure;
  const Digests& digests = result.digests;
  INFO("first wrong byte of v1: ", first_difference(digests.v1, expected.digests.v1),
       ", roots: ", first_difference(digests.roots, expected.digests.roots),
       ", layers: ", first_difference(digests.layers, expected.digests.layers));
  REQUIRE_EQ(digests.missing, expected.digests.missing);
  REQUIRE_EQ(digests.v1, expected.digests.v1);
  REQUIRE_EQ(digests.roots, expected.digests.roots);
  REQUIRE_EQ(digests.layers, expected.digests.layers);
  REQUIRE_EQ(result.bytes, expected.bytes);
}

// How a request is run.
struct Setting {
  unsigned threads;
  std::uint64_t read_size;
  std::uint64_t reads;  // reads that fit into the memory of a thread
  const Kernels* kernels;
  bool as_job;
};

inline void check_setting(HashRequest request, const Setting& setting, const Expected& expected) {
  request.threads = setting.threads;
  request.read_size = setting.read_size;
  request.memory_limit = setting.threads * setting.read_size * setting.reads;
  INFO(name_of(request.version), ", pieces of ", request.piece_length, ", ", ::name_of(*setting.kernels),
       ", ", setting.threads, " threads, ", setting.reads, " reads of ", setting.read_size,
       setting.as_job ? std::string(", a job") : ", workers");
  const Result result =
      setting.as_job ? run_as_job(request, *setting.kernels) : run_as_workers(request, *setting.kernels);
  check_result(result, expected);
}

}  // namespace requests
