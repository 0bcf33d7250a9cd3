// Merkle trees of BEP 52. Padding is implied: hashes of all-zero subtrees come from a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/sha.h"

namespace metainfo {

constexpr std::uint64_t kBlockSize = 16384;  // BEP 52: a leaf is the SHA-256 of 16 KiB
constexpr std::size_t kHashSize = 32;
// Pieces of up to 2^63 bytes, and as many of them as 32 bits count.
constexpr unsigned kMaxTreeHeight = 96;

// The smallest h with 2^h >= n; 0 for n = 0.
constexpr unsigned ceil_log2(std::uint64_t n) {
  unsigned height = 0;
  while (height < 63 && (std::uint64_t{1} << height) < n) ++height;
  return height;
}

// `count` nodes from as many pairs of hashes. `out` may be `pairs`.
void merkle_nodes(const Kernels& kernels, std::uint8_t* out, const std::uint8_t* pairs, std::size_t count);

// Roots of trees of 2^i leaves that are all 32 zero bytes, i from 0.
using ZeroSubtrees = std::array<Sha256Digest, kMaxTreeHeight>;
ZeroSubtrees zero_subtrees(const Kernels& kernels);

// The trees of one job: what hashes them, and what padding looks like.
struct Trees {
  explicit Trees(const Kernels& kernels_) : kernels(kernels_), zeros(zero_subtrees(kernels_)) {}

  // Reduces a layer in place, level by level; the root is then the first hash. It has `count` hashes, at
  // least one, of nodes `base` above the leaves, is padded to 2^height of them, and has room for one more.
  void reduce(std::uint8_t* layer, std::size_t count, unsigned base, unsigned height) const;

  // The same for a layer that must stay as it is, of any length.
  Sha256Digest root(const std::uint8_t* layer, std::uint64_t count, unsigned base, unsigned height) const;

  const Kernels& kernels;
  const ZeroSubtrees zeros;
};

// Roots of equal subtrees that come one after the other, reduced as they come: memory is the tree's height.
class SubtreeStack {
 public:
  // `base` is the height of the subtrees.
  SubtreeStack(const Trees& trees, unsigned base) : trees_(trees), base_(base) {}

  void clear() { count_ = 0; }
  void push(const std::uint8_t* root);

  // The root of the tree of this height: the subtrees pushed, at least one, then padding.
  Sha256Digest root(unsigned height) const;

 private:
  const Trees& trees_;
  const unsigned base_;
  std::uint64_t count_ = 0;
  std::array<Sha256Digest, kMaxTreeHeight> full_;  // full_[i]: 2^i subtrees, where bit i of the count is set
};

// A tree whose leaves come one after the other: memory is that of 64 leaves, and its height.
class GrowingTree {
 public:
  explicit GrowingTree(const Trees& trees) : trees_(trees), runs_(trees, kRunHeight) {}

  void clear() {
    leaves_ = 0;
    runs_.clear();
  }
  std::uint64_t leaves() const { return leaves_; }

  // Where the next leaf is to be written; it counts after pushed().
  std::uint8_t* next() { return run_ + leaves_ % kRun * kHashSize; }
  void pushed();

  // The root over 2^height leaves: those pushed, at least one, then padding. Once.
  Sha256Digest root(unsigned height);

  static constexpr unsigned kRunHeight = 6;
  static constexpr std::size_t kRun = std::size_t{1} << kRunHeight;

 private:
  const Trees& trees_;
  std::uint64_t leaves_ = 0;
  std::uint8_t run_[(kRun + 1) * kHashSize];
  SubtreeStack runs_;
};

}  // namespace metainfo
