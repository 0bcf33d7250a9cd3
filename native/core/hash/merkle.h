// Merkle trees of BEP 52. The padding is never stored: a table has the hashes of all-zero subtrees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/hash/sha.h"

namespace metainfo {

constexpr std::uint64_t kBlockSize = 16384;  // BEP 52: a leaf is the SHA-256 of 16 KiB
constexpr std::size_t kHashSize = 32;
// Enough for pieces of 2^63 bytes, and for as many of them as 32 bits can count.
constexpr unsigned kMaxTreeHeight = 96;

// The smallest h with 2^h >= n; 0 for n = 0.
constexpr unsigned ceil_log2(std::uint64_t n) {
  unsigned height = 0;
  while (height < 63 && (std::uint64_t{1} << height) < n) ++height;
  return height;
}

// Hashes `count` pairs of hashes to the nodes above them. `out` may be equal to `pairs`.
void merkle_nodes(const Kernels& kernels, std::uint8_t* out, const std::uint8_t* pairs, std::size_t count);

// Entry i is the root of a tree of 2^i leaves that are 32 zero bytes each.
using ZeroSubtrees = std::array<Sha256Digest, kMaxTreeHeight>;
ZeroSubtrees zero_subtrees(const Kernels& kernels);
// The same, computed once for the process: all kernels give the same hashes.
const ZeroSubtrees& shared_zero_subtrees(const Kernels& kernels);

// Computes the roots of trees with the kernels of one job.
struct Trees {
  explicit Trees(const Kernels& kernels_) : kernels(kernels_), zeros(shared_zero_subtrees(kernels_)) {}

  // Reduces a layer in place, level by level; afterwards its first hash is the root. The layer has `count`
  // hashes, at least one, of nodes that are `base` levels above the leaves. It counts as padded to 2^height
  // hashes, and must have room for one more hash.
  void reduce(std::uint8_t* layer, std::size_t count, unsigned base, unsigned height) const;

  // The same for a layer of any length, which is not changed.
  Sha256Digest root(const std::uint8_t* layer, std::uint64_t count, unsigned base, unsigned height) const;

  const Kernels& kernels;
  const ZeroSubtrees& zeros;
};

// Reduces the roots of subtrees of equal height as they arrive. It keeps one hash per level of the tree.
class SubtreeStack {
 public:
  // `base` is the height of the subtrees.
  SubtreeStack(const Trees& trees, unsigned base) : trees_(trees), base_(base) {}

  void clear() { count_ = 0; }
  void push(const std::uint8_t* root);

  // The root of the tree of this height: the subtrees that were pushed, at least one, then padding.
  Sha256Digest root(unsigned height) const;

 private:
  const Trees& trees_;
  const unsigned base_;
  std::uint64_t count_ = 0;
  // full_[i] is the root of 2^i subtrees, if bit i of count_ is set.
  std::array<Sha256Digest, kMaxTreeHeight> full_;
};

// A tree whose leaves arrive one by one. It keeps 64 leaves and one hash per level.
class GrowingTree {
 public:
  explicit GrowingTree(const Trees& trees) : trees_(trees), subtrees_(trees, kSubtreeHeight) {}

  void clear() {
    leaves_ = 0;
    subtrees_.clear();
  }
  std::uint64_t leaves() const { return leaves_; }

  // Where to write the next leaf. Call pushed() afterwards.
  std::uint8_t* next() { return subtree_ + leaves_ % kSubtreeLeaves * kHashSize; }
  void pushed();

  // The root over 2^height leaves: those that were pushed, at least one, then padding. Call it only once.
  Sha256Digest root(unsigned height);

  static constexpr unsigned kSubtreeHeight = 6;
  static constexpr std::size_t kSubtreeLeaves = std::size_t{1} << kSubtreeHeight;

 private:
  const Trees& trees_;
  std::uint64_t leaves_ = 0;
  std::uint8_t subtree_[(kSubtreeLeaves + 1) * kHashSize];
  SubtreeStack subtrees_;
};

}  // namespace metainfo
