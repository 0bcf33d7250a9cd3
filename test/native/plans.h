// Plans, what they must hash to, and ways to hash them.
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

#include "check.h"
#include "core/job.h"
#include "core/merkle.h"
#include "core/plan.h"
#include "core/work.h"
#include "core/worker.h"
#include "oracle.h"
#include "threads.h"

namespace plans {

using metainfo::Digests;
using metainfo::Failure;
using metainfo::Kernels;
using metainfo::Version;
using metainfo::Plan;
using metainfo::PlanFile;
using oracle::Bytes;

constexpr std::uint64_t kBlock = metainfo::kBlockSize;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kPlenty = std::size_t{1} << 30;
constexpr Version kKinds[] = {Version::v1, Version::v2, Version::hybrid};

inline const char* name_of(Version version) { return version == Version::v1 ? "v1" : version == Version::v2 ? "v2" : "hybrid"; }

inline PlanFile pad(std::uint64_t length) {
  PlanFile file;
  file.pad = true;
  file.length = length;
  return file;
}

inline PlanFile unchecked(const std::string& path, std::uint64_t length) {
  PlanFile file;
  file.path = path;
  file.length = file.size = length;
  file.mtime_ms = std::numeric_limits<double>::quiet_NaN();
  return file;
}

// After every file that does not end with a piece; after the last one by choice, as readers know both.
inline std::vector<PlanFile> padded(const std::vector<PlanFile>& files, std::uint64_t piece_length,
                                    bool tail) {
  std::vector<PlanFile> all;
  for (const PlanFile& file : files) {
    all.push_back(file);
    if (file.length % piece_length != 0) all.push_back(pad(piece_length - file.length % piece_length));
  }
  if (!tail && !all.empty() && all.back().pad) all.pop_back();
  return all;
}

// One thread, small reads, and memory for all lanes.
inline Plan plan_of(std::vector<PlanFile> files, Version version, std::uint64_t piece_length) {
  Plan plan;
  plan.files = std::move(files);
  plan.version = version;
  plan.piece_length = piece_length;
  plan.read_size = kBlock;
  plan.memory_limit = kPlenty;
  return plan;
}

// The same with one read in memory at a time, so that it is known what is read when.
inline Plan narrow(Plan plan) {
  plan.memory_limit = plan.threads * plan.read_size;
  return plan;
}

// What a plan must hash to.
struct Expected {
  Digests digests;
  std::uint64_t bytes = 0;
};

// A file's tree as BEP 52 draws it: all leaves of the tree in memory, those past the end zero.
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

// Everything in memory, hashed plainly. A file that cannot be opened is missing.
inline Expected expect(const Plan& plan) {
  Expected expected;
  expected.digests.roots.resize(plan.version == Version::v1 ? 0 : plan.files.size() * 32);
  Bytes stream;
  // Where missing files are in it.
  std::vector<std::pair<std::size_t, std::size_t>> absent;
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const PlanFile& file = plan.files[i];
    Bytes content(file.length);
    bool missing = false;
    if (!file.pad) {
      std::ifstream source(file.path, std::ios::binary);
      missing = !source;
      source.seekg(static_cast<std::streamoff>(file.offset));
      source.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
      if (missing) {
        expected.digests.missing.push_back(static_cast<std::uint32_t>(i));
        const std::uint64_t pieces = (file.length + plan.piece_length - 1) / plan.piece_length;
        if (plan.version != Version::v1 && pieces > 1)
          expected.digests.layers.resize(expected.digests.layers.size() + pieces * 32);
      } else if (file.length != 0) {
        expected.bytes += file.length;
        if (plan.version != Version::v1)
          expect_tree(content, plan.piece_length, &expected.digests.roots[i * 32], expected.digests.layers);
      }
    }
    if (plan.version == Version::v2) continue;
    if (missing && file.length != 0) absent.push_back({stream.size(), stream.size() + content.size()});
    stream.insert(stream.end(), content.begin(), content.end());
  }
  for (std::size_t at = 0; at < stream.size(); at += plan.piece_length) {
    const std::size_t size = std::min<std::size_t>(plan.piece_length, stream.size() - at);
    const bool touched = std::any_of(absent.begin(), absent.end(), [&](const auto& range) {
      return range.first < at + size && range.second > at;
    });
    const metainfo::Sha1Digest digest = touched ? metainfo::Sha1Digest{} : oracle::sha1(&stream[at], size);
    expected.digests.v1.insert(expected.digests.v1.end(), digest.begin(), digest.end());
  }
  return expected;
}

struct Ran {
  std::optional<Failure> failure;
  Digests digests;
  std::uint64_t bytes = 0;
  std::uint32_t file_index = 0;
};

// As a job with a budget of its own, of as many threads as the plan wants unless it is told another number.
inline Ran run_as_job(const Plan& plan, const Kernels& kernels, unsigned limit = 0) {
  metainfo::Budget budget({limit == 0 ? plan.threads : limit, std::uint64_t{1} << 40});
  metainfo::Job job(plan, kernels, budget);
  Tally finished;
  job.start([&] { finished.add(); });
  finished.wait();
  job.join();
  Ran ran;
  ran.bytes = job.gauge().bytes;
  ran.file_index = job.gauge().file_index;
  if (auto* failure = std::get_if<Failure>(&job.outcome())) {
    ran.failure = std::move(*failure);
  } else {
    ran.digests = std::move(std::get<Digests>(job.outcome()));
  }
  CHECK_EQUAL(finished.count(), 1U);
  return ran;
}

inline std::unique_ptr<metainfo::Worker> make_worker(metainfo::Work& work) {
  return work.plan.version == Version::v2 ? metainfo::make_leaf_worker(work) : metainfo::make_piece_worker(work);
}

// By workers without a job, this thread the only one or apart from them.
inline Ran run_as_workers(const Plan& plan, const Kernels& kernels) {
  metainfo::Gauge gauge;
  metainfo::Work work(plan, kernels, gauge);
  const auto run = [&work] {
    const std::unique_ptr<metainfo::Worker> worker = make_worker(work);
    while (worker->batch() != 0) continue;
    worker->finish();
  };
  if (plan.threads == 1) {
    run();
  } else {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < plan.threads; ++i) threads.emplace_back(run);
    for (std::thread& thread : threads) thread.join();
  }
  Ran ran;
  ran.failure = work.failure;
  for (std::size_t i = 0; i < work.missing.size(); ++i) {
    if (work.missing[i]) work.digests.missing.push_back(static_cast<std::uint32_t>(i));
  }
  ran.digests = std::move(work.digests);
  ran.bytes = gauge.bytes;
  ran.file_index = gauge.file_index;
  return ran;
}

inline void check_ran(const Ran& ran, const Expected& expected) {
  if (ran.failure)
    check::fail(__FILE__, __LINE__, "it failed: " + ran.failure->path + ": " + ran.failure->detail);
  CHECK_EQUAL(ran.digests.missing, expected.digests.missing);
  CHECK_EQUAL(ran.digests.v1, expected.digests.v1);
  CHECK_EQUAL(ran.digests.roots, expected.digests.roots);
  CHECK_EQUAL(ran.digests.layers, expected.digests.layers);
  CHECK_EQUAL(ran.bytes, expected.bytes);
}

// How a plan is run.
struct Setting {
  unsigned threads;
  std::uint64_t read_size;
  std::uint64_t reads;  // in a thread's memory
  const Kernels* kernels;
  bool as_job;
};

inline void check_setting(Plan plan, const Setting& setting, const Expected& expected) {
  plan.threads = setting.threads;
  plan.read_size = setting.read_size;
  plan.memory_limit = setting.threads * setting.read_size * setting.reads;
  const check::Case round(std::string(name_of(plan.version)) + ", pieces of " +
                          std::to_string(plan.piece_length) + ", " + setting.kernels->rows[0]->name + ", " +
                          std::to_string(setting.threads) + " threads, " + std::to_string(setting.reads) +
                          " reads of " + std::to_string(setting.read_size) +
                          (setting.as_job ? ", a job" : ", workers"));
  const Ran ran =
      setting.as_job ? run_as_job(plan, *setting.kernels) : run_as_workers(plan, *setting.kernels);
  check_ran(ran, expected);
}

}  // namespace plans
