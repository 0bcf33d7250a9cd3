// What all workers of a job share, and how they hand out and hand in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/gauge.h"
#include "core/merkle.h"
#include "core/plan.h"
#include "kernels/kernel.h"

namespace metainfo {

// Everything is laid out on one axis. In v1 and hybrid that is the concatenation of all files, in bytes
// (hybrid plans hold their pads, so each piece belongs to one file). In v2, where nothing ties files
// together, it counts runs: 64 leaves, 1 MiB, of one file.
struct Work {
  static constexpr std::uint64_t kRunBytes = kBlockSize * GrowingTree::kRun;
  static constexpr std::uint64_t kNoLayer = std::numeric_limits<std::uint64_t>::max();

  Work(Plan plan_, const Kernels& kernels_, Gauge& gauge_);  // throws Failure, std::bad_alloc

  bool has_v1() const { return plan.version != Version::v2; }
  bool has_v2() const { return plan.version != Version::v1; }
  bool stopped() const {
    return stop.load(std::memory_order_relaxed) || gauge.cancelled.load(std::memory_order_relaxed);
  }

  // The last file that starts at or before a place on the axis: of several that start there, the one with
  // content.
  std::size_t file_at(std::uint64_t place) const;

  // The next batch, as places on the axis (pieces in v1 and hybrid, runs in v2); empty when none is left.
  struct Batch {
    std::uint64_t first;
    std::uint64_t last;
  };
  Batch take();

  void fail(Failure failure);
  void mark_opened(std::size_t file);   // throws Failure
  void mark_missing(std::size_t file);  // throws Failure

  std::uint8_t* root_of(std::size_t file) { return &digests.roots[file * kHashSize]; }
  std::uint8_t* layer_of(std::size_t file) { return &digests.layers[layer_starts[file]]; }
  // To be called when one of the parts of a file that has a layer is done; the last one finishes the root.
  void finish_part(std::size_t file);

  const Plan plan;
  const Kernels kernels;
  Gauge& gauge;
  const Trees trees;
  const unsigned piece_height;  // of a whole piece's tree of leaves

  std::vector<std::uint64_t> starts;  // of each file on the axis
  std::uint64_t end = 0;              // of the axis
  std::uint64_t units = 0;            // pieces or runs
  std::uint64_t batches = 0;
  std::vector<std::size_t> empty_files;

  // Of each file, where it begins in digests.layers; kNoLayer where it has none.
  std::vector<std::uint64_t> layer_starts;
  // v2 with pieces longer than a run: the roots of runs, and where each file's begin.
  std::vector<std::uint64_t> run_starts;
  std::vector<std::uint8_t> run_roots;
  std::unique_ptr<std::atomic<std::uint64_t>[]> parts_left;  // of each file: pieces (hybrid) or runs (v2)

  std::atomic<std::uint64_t> next{0};
  std::atomic<std::size_t> next_empty{0};
  std::atomic<bool> stop{false};

  std::mutex mutex;  // of all below but the digests: a worker writes only those of its own pieces and files
  std::optional<Failure> failure;
  std::optional<Sha1State> zero_piece;  // after the whole blocks of a piece of zeros, once one was hashed
  std::vector<bool> opened;
  std::vector<bool> missing;
  Digests digests;
};

}  // namespace metainfo
