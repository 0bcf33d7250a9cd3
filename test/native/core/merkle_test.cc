#include "core/merkle.h"

#include <cstdint>
#include <string>

#include "check.h"
#include "oracle.h"

using metainfo::ceil_log2;
using metainfo::Kernel;
using metainfo::merkle_node;
using metainfo::MerkleStack;
using metainfo::Sha256Digest;
using metainfo::zero_subtrees;
using metainfo::ZeroSubtrees;
using oracle::Hashes;

namespace {

const Kernel& kernel() { return *metainfo::select_kernel(nullptr); }

Sha256Digest hash_number(std::uint8_t number) { return oracle::sha256(&number, 1); }

// The root of 2^height leaves that are all zero, from those leaves.
Sha256Digest zero_root(unsigned height) {
  const Hashes leaves(std::size_t{1} << height, Sha256Digest{});
  return oracle::root(leaves.data(), leaves.size());
}

}  // namespace

TEST("merkle: ceil_log2 at its edges") {
  CHECK_EQUAL(ceil_log2(0), 0U);
  CHECK_EQUAL(ceil_log2(1), 0U);
  CHECK_EQUAL(ceil_log2(2), 1U);
  CHECK_EQUAL(ceil_log2(3), 2U);
  for (unsigned height = 2; height < 64; ++height) {
    const check::Case round("2^" + std::to_string(height));
    const std::uint64_t power = std::uint64_t{1} << height;
    CHECK_EQUAL(ceil_log2(power - 1), height);
    CHECK_EQUAL(ceil_log2(power), height);
    if (height < 63) CHECK_EQUAL(ceil_log2(power + 1), height + 1);
  }
}

TEST("merkle: a node is the hash of left, then right") {
  const Hashes pair = {hash_number(1), hash_number(2)};
  CHECK_EQUAL(merkle_node(kernel(), pair[0], pair[1]), oracle::root(pair.data(), 2));
  CHECK(merkle_node(kernel(), pair[0], pair[1]) != merkle_node(kernel(), pair[1], pair[0]));
}

TEST("merkle: subtrees of zeros begin with a leaf of 32 zero bytes") {
  const ZeroSubtrees zeros = zero_subtrees(kernel());
  CHECK_EQUAL(zeros[0], Sha256Digest{});
  // SHA-256 of 64 zero bytes, as anyone can look it up.
  const Sha256Digest one_up = {0xf5, 0xa5, 0xfd, 0x42, 0xd1, 0x6a, 0x20, 0x30, 0x27, 0x98, 0xef,
                               0x6e, 0xd3, 0x09, 0x97, 0x9b, 0x43, 0x00, 0x3d, 0x23, 0x20, 0xd9,
                               0xf0, 0xe8, 0xea, 0x98, 0x31, 0xa9, 0x27, 0x59, 0xfb, 0x4b};
  CHECK_EQUAL(zeros[1], one_up);
  for (unsigned height = 0; height <= 10; ++height) CHECK_EQUAL(zeros[height], zero_root(height));
  for (std::size_t height = 1; height < zeros.size(); ++height) {
    const Hashes pair(2, zeros[height - 1]);
    CHECK_EQUAL(zeros[height], oracle::root(pair.data(), 2));
  }
}

TEST("merkle: roots are those of the tree with its padding written out") {
  const ZeroSubtrees zeros = zero_subtrees(kernel());
  for (const unsigned base : {0U, 1U, 3U, 9U}) {
    MerkleStack stack(kernel(), zeros, base);
    Hashes hashes;
    for (std::uint8_t count = 1; count <= 70; ++count) {
      hashes.push_back(hash_number(count));
      stack.push(hashes.back());
      CHECK_EQUAL(stack.count(), count);
      for (unsigned more = 0; more <= 3; ++more) {
        const unsigned height = ceil_log2(count) + more;
        const check::Case round(std::to_string(count) + " hashes, height " + std::to_string(height) +
                                ", base " + std::to_string(base));
        Hashes padded = hashes;
        padded.resize(std::size_t{1} << height, zero_root(base));
        CHECK_EQUAL(stack.root(height), oracle::root(padded.data(), padded.size()));
      }
    }
  }
}

TEST("merkle: padding reaches the highest tree") {
  const ZeroSubtrees zeros = zero_subtrees(kernel());
  MerkleStack stack(kernel(), zeros);
  stack.push(hash_number(1));
  Hashes pair = {hash_number(1), {}};
  for (unsigned height = 1; height < metainfo::kMaxTreeHeight; ++height) {
    pair[1] = zeros[height - 1];
    pair[0] = oracle::root(pair.data(), 2);
    CHECK_EQUAL(stack.root(height), pair[0]);
  }
}

TEST("merkle: a cleared stack is a new one") {
  const ZeroSubtrees zeros = zero_subtrees(kernel());
  MerkleStack used(kernel(), zeros);
  for (std::uint8_t i = 0; i < 13; ++i) used.push(hash_number(i));
  used.clear();
  CHECK_EQUAL(used.count(), 0U);
  Hashes hashes;
  for (std::uint8_t i = 100; i < 106; ++i) {
    used.push(hash_number(i));
    hashes.push_back(hash_number(i));
  }
  hashes.resize(8);
  CHECK_EQUAL(used.root(3), oracle::root(hashes.data(), 8));
}
