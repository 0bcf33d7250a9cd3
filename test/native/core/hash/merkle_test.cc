#include "core/hash/merkle.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel_lists.h"
#include "oracle.h"
#include "scale.h"
#include "test.h"

using metainfo::ceil_log2;
using metainfo::GrowingTree;
using metainfo::Kernels;
using metainfo::kHashSize;
using metainfo::kMaxTreeHeight;
using metainfo::Sha256Digest;
using metainfo::SubtreeStack;
using metainfo::Trees;
using metainfo::zero_subtrees;
using metainfo::ZeroSubtrees;
using oracle::Bytes;
using oracle::Hashes;

namespace {

constexpr std::uint8_t kCanary = 0xc5;

template <typename Action>
void each_table(Action action) {
  for (const Kernels& kernels : kernel_lists()) {
    INFO(name_of(kernels));
    action(kernels);
  }
}

// One for each list of kernels.
const Trees& trees_of(const Kernels& kernels) {
  static std::map<std::string, Trees> made;
  return made.try_emplace(name_of(kernels), kernels).first->second;
}

Bytes flat(const Hashes& hashes) {
  Bytes bytes;
  bytes.reserve(hashes.size() * kHashSize);
  for (const Sha256Digest& hash : hashes) bytes.insert(bytes.end(), hash.begin(), hash.end());
  return bytes;
}

Sha256Digest first_of(const Bytes& layer) {
  Sha256Digest hash;
  std::copy_n(layer.begin(), kHashSize, hash.begin());
  return hash;
}

Sha256Digest reduced(const Trees& trees, const Hashes& hashes, unsigned base, unsigned height) {
  Bytes layer = flat(hashes);
  // Room for exactly one more hash.
  layer.resize(layer.size() + kHashSize);
  layer.resize(layer.size() + 64, kCanary);
  trees.reduce(layer.data(), hashes.size(), base, height);
  REQUIRE(std::all_of(layer.end() - 64, layer.end(), [](std::uint8_t byte) { return byte == kCanary; }));
  return first_of(layer);
}

Sha256Digest rooted(const Trees& trees, const Hashes& hashes, unsigned base, unsigned height) {
  const Bytes layer = flat(hashes);
  const Bytes before = layer;
  const Sha256Digest root = trees.root(layer.data(), hashes.size(), base, height);
  REQUIRE(layer == before);
  return root;
}

void push(GrowingTree& tree, const Sha256Digest& leaf) {
  std::memcpy(tree.next(), leaf.data(), kHashSize);
  tree.pushed();
}

// Heights for a tree over `count` hashes: the lowest and some above it, one far above and the highest.
std::vector<unsigned> heights(std::size_t count, unsigned base) {
  const unsigned least = ceil_log2(count);
  std::set<unsigned> found;
  for (unsigned more = 0; more <= 3; ++more) found.insert(least + more);
  found.insert(33);
  found.insert(64);
  found.insert(kMaxTreeHeight - base);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("ceil_log2: is exact at powers of two") {
  REQUIRE_EQ(ceil_log2(0), 0U);
  REQUIRE_EQ(ceil_log2(1), 0U);
  REQUIRE_EQ(ceil_log2(2), 1U);
  REQUIRE_EQ(ceil_log2(3), 2U);
  for (unsigned height = 2; height < 64; ++height) {
    INFO("2^", height);
    const std::uint64_t power = std::uint64_t{1} << height;
    REQUIRE_EQ(ceil_log2(power - 1), height);
    REQUIRE_EQ(ceil_log2(power), height);
    if (height < 63) REQUIRE_EQ(ceil_log2(power + 1), height + 1);
  }
}

TEST_CASE("Merkle trees: the oracle's trees equal trees with explicit padding") {
  for (const unsigned base : {0U, 1U, 3U}) {
    for (std::size_t count = 1; count <= 40; ++count) {
      for (unsigned height = ceil_log2(count); height <= 7; ++height) {
        Hashes padded = oracle::hashes(count);
        const Hashes hashes = padded;
        const Hashes leaves(std::size_t{1} << base);
        padded.resize(std::size_t{1} << height, oracle::root(leaves.data(), leaves.size()));
        REQUIRE_EQ(oracle::tree(hashes, base, height), oracle::root(padded.data(), padded.size()));
      }
    }
  }
}

TEST_CASE("Merkle trees: a node is the hash of left, then right") {
  const Hashes pair = oracle::hashes(2);
  Bytes out(32);
  metainfo::merkle_nodes(best(), out.data(), flat(pair).data(), 1);
  REQUIRE_EQ(first_of(out), oracle::node(pair[0], pair[1]));
  REQUIRE(first_of(out) != oracle::node(pair[1], pair[0]));
}

TEST_CASE("Merkle trees: any number of nodes, in place or not, and nothing else is written") {
  each_table([](const Kernels& kernels) {
    for (std::size_t count = 0; count <= 40; ++count) {
      INFO(count, " nodes");
      const Hashes hashes = oracle::hashes(2 * count, count);
      Hashes nodes;
      for (std::size_t i = 0; i < count; ++i) nodes.push_back(oracle::node(hashes[2 * i], hashes[2 * i + 1]));
      const Bytes expected = flat(nodes);
      const Bytes pairs = flat(hashes);
      const Bytes before = pairs;
      Bytes out(64 + expected.size() + 64, kCanary);
      metainfo::merkle_nodes(kernels, &out[64], pairs.data(), count);
      REQUIRE(pairs == before);
      Bytes framed(64, kCanary);
      framed.insert(framed.end(), expected.begin(), expected.end());
      framed.insert(framed.end(), 64, kCanary);
      REQUIRE_EQ(out, framed);

      Bytes place = pairs;
      metainfo::merkle_nodes(kernels, place.data(), place.data(), count);
      REQUIRE(std::equal(expected.begin(), expected.end(), place.begin()));
      const auto rest = static_cast<std::ptrdiff_t>(expected.size());
      REQUIRE(std::equal(place.begin() + rest, place.end(), pairs.begin() + rest));
    }
  });
}

TEST_CASE("Merkle trees: zero subtrees start with a leaf of 32 zero bytes") {
  // The SHA-256 of 64 zero bytes, from an independent source.
  const Sha256Digest one_up = {0xf5, 0xa5, 0xfd, 0x42, 0xd1, 0x6a, 0x20, 0x30, 0x27, 0x98, 0xef,
                               0x6e, 0xd3, 0x09, 0x97, 0x9b, 0x43, 0x00, 0x3d, 0x23, 0x20, 0xd9,
                               0xf0, 0xe8, 0xea, 0x98, 0x31, 0xa9, 0x27, 0x59, 0xfb, 0x4b};
  each_table([&](const Kernels& kernels) {
    const ZeroSubtrees zeros = zero_subtrees(kernels);
    REQUIRE_EQ(zeros[0], Sha256Digest{});
    REQUIRE_EQ(zeros[1], one_up);
    for (unsigned height = 0; height <= 10; ++height) {
      const Hashes leaves(std::size_t{1} << height, Sha256Digest{});
      REQUIRE_EQ(zeros[height], oracle::root(leaves.data(), leaves.size()));
    }
    for (std::size_t height = 1; height < zeros.size(); ++height)
      REQUIRE_EQ(zeros[height], oracle::node(zeros[height - 1], zeros[height - 1]));
  });
}

TEST_CASE("Merkle trees: roots include the padding") {
  const Hashes all = oracle::hashes(200, 1);
  Sample sample;
  for (std::size_t count = 1; count <= all.size(); ++count) {
    const Hashes hashes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    for (const unsigned base : {0U, 1U, 6U, 9U}) {
      for (const unsigned height : heights(count, base)) {
        if (!sample.next()) continue;
        const Sha256Digest expected = oracle::tree(hashes, base, height);
        each_table([&](const Kernels& kernels) {
          INFO(count, " hashes, height ", height, ", base ", base);
          const Trees& trees = trees_of(kernels);
          REQUIRE_EQ(reduced(trees, hashes, base, height), expected);
          REQUIRE_EQ(rooted(trees, hashes, base, height), expected);
        });
      }
    }
  }
}

TEST_CASE("Merkle trees: roots of layers that are reduced in sections") {
  const Hashes all = oracle::hashes(65537, 2);
  const std::size_t counts[] = {255,  256,  257,  1023, 1024, 1025,  1026,  1087,
                                1088, 1089, 2047, 2048, 2049, 10000, 65536, 65537};
  Sample sample;
  for (const std::size_t count : counts) {
    if (!sample.next()) continue;
    const Hashes hashes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    for (const unsigned base : {0U, 5U}) {
      const unsigned least = ceil_log2(count);
      for (const unsigned height : {least, 40U}) {
        const Sha256Digest expected = oracle::tree(hashes, base, height);
        each_table([&](const Kernels& kernels) {
          INFO(count, " hashes, height ", height, ", base ", base);
          const Trees& trees = trees_of(kernels);
          REQUIRE_EQ(rooted(trees, hashes, base, height), expected);
          if (height == least && base == 0) REQUIRE_EQ(reduced(trees, hashes, base, height), expected);
        });
      }
    }
  }
}

TEST_CASE("Merkle trees: a stack reduces subtrees of any height") {
  const Hashes all = oracle::hashes(140, 6);
  for (const unsigned base : {0U, 1U, 6U, 10U, 16U}) {
    SubtreeStack stack(trees_of(best()), base);
    // In the second round, the stack was used and cleared before.
    for (std::size_t size : {std::size_t{70}, all.size()}) {
      stack.clear();
      Sample sample;
      for (std::size_t count = 1; count <= size; ++count) {
        stack.push(all[count - 1].data());
        if (!sample.next()) continue;
        const Hashes hashes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        for (const unsigned height : heights(count, base)) {
          INFO(count, " subtrees, height ", height, ", base ", base);
          REQUIRE_EQ(stack.root(base + height), oracle::tree(hashes, base, height));
        }
      }
    }
  }
}

TEST_CASE("Merkle trees: a growing tree has the root of its leaves at any height") {
  const Hashes all = oracle::hashes(300, 3);
  // The trees of all lists of kernels grow together, so that each expected root is computed only once.
  std::vector<GrowingTree> trees;
  each_table([&](const Kernels& kernels) { trees.emplace_back(trees_of(kernels)); });
  Sample sample;
  for (std::size_t count = 1; count <= all.size(); ++count) {
    const Hashes hashes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    for (GrowingTree& tree : trees) {
      push(tree, hashes.back());
      REQUIRE_EQ(tree.leaves(), count);
    }
    std::vector<unsigned> each = heights(count, 0);
    for (unsigned height = ceil_log2(count) + 4; height <= 12; ++height) each.push_back(height);
    for (const unsigned height : each) {
      if (!sample.next()) continue;
      const Sha256Digest expected = oracle::tree(hashes, 0, height);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        INFO(name_of(kernel_lists()[i]), ", ", count, " leaves, height ", height);
        GrowingTree copy = trees[i];
        REQUIRE_EQ(copy.root(height), expected);
      }
    }
  }
}

TEST_CASE("Merkle trees: a growing tree may have more leaves than it keeps in memory") {
  const std::size_t count = thin() == 1 ? 20000 : 2000;
  const Hashes all = oracle::hashes(count, 4);
  const Trees trees(best());
  GrowingTree tree(trees);
  for (std::size_t i = 0; i < all.size(); ++i) {
    push(tree, all[i]);
    const std::size_t size = i + 1;
    // Numbers around powers of two subtrees, and some others.
    const std::size_t runs = (size + 63) / 64;
    const bool near = (runs & (runs - 1)) == 0 && (size % 64 <= 1 || size % 64 == 63);
    if (!near && size % 4999 != 0) continue;
    INFO(size, " leaves");
    const Hashes hashes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    for (const unsigned height : {ceil_log2(size), ceil_log2(size) + 1, 50U}) {
      if (size > 64 || height >= ceil_log2(size)) {
        GrowingTree copy = tree;
        REQUIRE_EQ(copy.root(height), oracle::tree(hashes, 0, height));
      }
    }
  }
}

TEST_CASE("Merkle trees: padding reaches the highest tree") {
  const Trees trees(best());
  const Hashes one = oracle::hashes(1);
  for (unsigned height = 1; height <= kMaxTreeHeight; ++height) {
    const Sha256Digest expected = oracle::tree(one, 0, height);
    REQUIRE_EQ(rooted(trees, one, 0, height), expected);
    GrowingTree tree(trees);
    push(tree, one[0]);
    REQUIRE_EQ(tree.root(height), expected);
  }
}

TEST_CASE("Merkle trees: a cleared tree is like a new one") {
  const Trees trees(best());
  GrowingTree tree(trees);
  const Hashes all = oracle::hashes(500, 5);
  for (const std::size_t before : {1, 63, 64, 65, 200, 256}) {
    for (const std::size_t after : {1, 6, 64, 65, 130}) {
      INFO(after, " after ", before);
      tree.clear();
      for (std::size_t i = 0; i < before; ++i) push(tree, all[i]);
      tree.clear();
      REQUIRE_EQ(tree.leaves(), 0U);
      Hashes hashes(all.begin() + 200, all.begin() + 200 + static_cast<std::ptrdiff_t>(after));
      for (const Sha256Digest& hash : hashes) push(tree, hash);
      const unsigned height = ceil_log2(after);
      REQUIRE_EQ(tree.root(height), oracle::tree(hashes, 0, height));
    }
  }
}
