// The state that all workers of a hash job share: which parts of the request are left, and where results go.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/hash/hash_request.h"
#include "core/hash/merkle.h"
#include "core/threads/progress.h"
#include "kernels/kernel.h"

namespace metainfo {

// The request is laid out as one sequence of units, and workers take parts of it: ranges of units.
// - v1 and hybrid: a unit is a piece of the concatenation of all files, each with its padding. In a hybrid
//   request, each piece belongs to one file.
// - v2: a unit is a subtree of 64 leaves (1 MiB) of one file, because no piece spans two files.
// A position is a byte of the concatenation in v1 and hybrid, and the number of a subtree in v2.
struct JobState {
  static constexpr std::uint64_t kSubtreeBytes = kBlockSize * GrowingTree::kSubtreeLeaves;
  static constexpr std::uint64_t kNoLayer = std::numeric_limits<std::uint64_t>::max();

  // Lays out the request, unless it has so many files that this would hold up the event loop. Throws Failure
  // and std::bad_alloc.
  JobState(HashRequest request_, const Kernels& kernels_, Progress& progress_);

  // Lays out a request of many files; the job fails if it cannot be. If much is to be hashed, lets the first
  // such job of the process choose the kernel of SHA-256. Every worker calls it before it does anything else:
  // the first call does the work, and the others wait for it.
  void prepare() noexcept;
  bool has_many_files() const { return request.count() > kManyFiles; }

  bool has_v1() const { return request.version != Version::v2; }
  bool has_v2() const { return request.version != Version::v1; }
  bool stopped() const {
    return stop.load(std::memory_order_relaxed) || progress.cancelled.load(std::memory_order_relaxed);
  }

  // The last file that starts at or before a position: if empty files start there too, the one with content.
  std::size_t file_at(std::uint64_t position) const;

  // A range of units. take_part() returns the next one; an empty one when none is left.
  struct Part {
    std::uint64_t first;
    std::uint64_t last;  // exclusive
  };
  Part take_part();

  void fail(Failure failure);           // the first failure is kept; the job stops
  void mark_opened(std::size_t file);   // throws Failure
  void mark_missing(std::size_t file);  // throws Failure

  std::uint8_t* root_of(std::size_t file) { return &digests.roots[file * kHashSize]; }
  std::uint8_t* layer_of(std::size_t file) { return &digests.layers[layer_starts[file]]; }
  // Called when a unit is hashed of a file that has a layer or several units. The last call computes the
  // file's root.
  void finish_unit(std::size_t file);

  const HashRequest request;
  Kernels kernels;  // constant after prepare()
  Progress& progress;
  const Trees trees;
  const unsigned piece_height;  // height of the tree over the blocks of a whole piece

  std::vector<std::uint64_t> starts;  // position of each file
  std::uint64_t end = 0;              // position after the last file
  std::uint64_t units = 0;
  std::uint64_t parts = 0;
  std::vector<std::size_t> empty_files;

  // Offset of each file's layer in digests.layers; kNoLayer if it has none.
  std::vector<std::uint64_t> layer_starts;
  // v2 with pieces longer than a subtree: the roots of all subtrees, and the offset of each file's first one.
  std::vector<std::uint64_t> subtree_starts;
  std::vector<std::uint8_t> subtree_roots;
  std::unique_ptr<std::atomic<std::uint64_t>[]> units_left;  // for each file

  std::atomic<std::uint64_t> next{0};      // part
  std::atomic<std::size_t> next_empty{0};  // index in empty_files
  std::atomic<bool> stop{false};

  // The mutex guards the members below, except the digests: a worker writes only those of its own units.
  std::mutex mutex;
  std::optional<Failure> failure;
  // The state after the whole blocks of a piece of zeros, once one was hashed.
  std::optional<Sha1State> zero_piece;
  std::vector<bool> opened;
  std::vector<bool> missing;
  Digests digests;

 private:
  static constexpr std::size_t kManyFiles = 1 << 14;

  void lay_out();

  std::once_flag prepared_;
};

}  // namespace metainfo
