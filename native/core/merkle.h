// Merkle trees of BEP 52. Padding is implied: hashes of all-zero subtrees come from a table.
#pragma once

#include <array>
#include <cstdint>

#include "core/sha.h"

namespace metainfo {

constexpr std::uint64_t kBlockSize = 16384;  // BEP 52: a leaf is the SHA-256 of 16 KiB
// Pieces of up to 2^63 bytes, and as many of them as 32 bits count.
constexpr unsigned kMaxTreeHeight = 96;

// The smallest h with 2^h >= n; 0 for n = 0.
constexpr unsigned ceil_log2(std::uint64_t n) {
  unsigned height = 0;
  while (height < 63 && (std::uint64_t{1} << height) < n) ++height;
  return height;
}

Sha256Digest merkle_node(const Kernel& kernel, const Sha256Digest& left, const Sha256Digest& right);

// Roots of trees of 2^i leaves that are all 32 zero bytes, i from 0.
using ZeroSubtrees = std::array<Sha256Digest, kMaxTreeHeight>;
ZeroSubtrees zero_subtrees(const Kernel& kernel);

// Reduces hashes of one layer to the root above them as they come: memory is the height of the tree.
// `base` is the height of that layer above the leaves, which says what padding looks like.
class MerkleStack {
 public:
  MerkleStack(const Kernel& kernel, const ZeroSubtrees& zeros, unsigned base = 0)
      : kernel_(kernel), zeros_(zeros), base_(base) {}

  void push(Sha256Digest hash);

  // The root over 2^height hashes: those pushed, then padding. Requires 1 <= pushed <= 2^height.
  Sha256Digest root(unsigned height) const;

  void clear() { count_ = 0; }
  std::uint64_t count() const { return count_; }

 private:
  const Kernel& kernel_;
  const ZeroSubtrees& zeros_;
  unsigned base_;
  std::uint64_t count_ = 0;
  std::array<Sha256Digest, kMaxTreeHeight>
      full_;  // full_[i]: a complete subtree where bit i of count_ is set
};

// The root above `count` piece hashes (32 bytes each, at least one): pieces past the end are all zero.
// `height` is that of a piece's tree of blocks.
Sha256Digest layer_root(const Kernel& kernel, const ZeroSubtrees& zeros, const std::uint8_t* hashes,
                        std::uint64_t count, unsigned height);

}  // namespace metainfo
