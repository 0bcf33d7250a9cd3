// Fuzz target: computes Merkle trees with every list of kernels and compares them with whole trees in memory.
#include "core/hash/merkle.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bytes.h"
#include "core/hash/layers.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "test.h"

using metainfo::Kernels;

namespace {

// A number of hashes, often near a power of two, where levels and sections begin.
std::size_t count_of(fuzz::Input& input, std::size_t most) {
  const std::uint64_t near = (std::uint64_t{1} << input.below(13)) + input.below(8);
  const std::uint64_t count = input.below(2) == 0 ? input.below(300) : near < 4 ? 0 : near - 4;
  return static_cast<std::size_t>(std::min<std::uint64_t>(most, 1 + count));
}

oracle::Hashes hashes_of(const oracle::Bytes& bytes, std::size_t count) {
  oracle::Hashes hashes(count);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(hashes[i].data(), &bytes[i * 32], 32);
  return hashes;
}

void trees(fuzz::Input& input, const Kernels& kernels) {
  const metainfo::Trees trees(kernels);
  const std::size_t count = count_of(input, 5000);
  const auto base = static_cast<unsigned>(input.below(20));
  const unsigned height = metainfo::ceil_log2(count) + static_cast<unsigned>(input.below(30));
  const oracle::Bytes bytes = input.content(count * 32);
  const oracle::Hashes hashes = hashes_of(bytes, count);
  const metainfo::Sha256Digest expected = oracle::tree(hashes, base, height);
  REQUIRE_EQ(trees.root(bytes.data(), count, base, height), expected);
  oracle::Bytes layer = bytes;
  layer.resize(layer.size() + 32);
  trees.reduce(layer.data(), count, base, height);
  REQUIRE(std::memcmp(layer.data(), expected.data(), 32) == 0);
  metainfo::GrowingTree tree(trees);
  for (const metainfo::Sha256Digest& hash : hashes) {
    std::memcpy(tree.next(), hash.data(), 32);
    tree.pushed();
  }
  REQUIRE(tree.root(height) == oracle::tree(hashes, 0, height));
  oracle::Bytes nodes(count / 2 * 32);
  metainfo::merkle_nodes(kernels, nodes.data(), bytes.data(), count / 2);
  for (std::size_t i = 0; i < count / 2; ++i) {
    const metainfo::Sha256Digest node = oracle::node(hashes[2 * i], hashes[2 * i + 1]);
    REQUIRE(std::memcmp(&nodes[i * 32], node.data(), 32) == 0);
  }
}

// Pushes subtrees into a stack, also into one that was used before.
void stack(fuzz::Input& input, const Kernels& kernels) {
  const metainfo::Trees trees(kernels);
  const auto base = static_cast<unsigned>(input.below(20));
  metainfo::SubtreeStack stack(trees, base);
  for (unsigned round = 0; round < 2; ++round) {
    const std::size_t count = count_of(input, 5000);
    const unsigned height = metainfo::ceil_log2(count) + static_cast<unsigned>(input.below(30));
    const oracle::Bytes bytes = input.content(count * 32);
    stack.clear();
    for (std::size_t i = 0; i < count; ++i) stack.push(&bytes[i * 32]);
    REQUIRE(stack.root(base + height) == oracle::tree(hashes_of(bytes, count), base, height));
  }
}

// Computes the roots of layers in any order, with other bytes between them, or overlapping.
void layers(fuzz::Input& input, const Kernels& kernels) {
  const auto height = static_cast<unsigned>(input.below(20));
  const oracle::Bytes bytes = input.content(64 + input.below(200000));
  std::vector<double> starts;
  std::vector<std::uint32_t> counts;
  oracle::Hashes expected;
  for (std::size_t i = input.below(200); i != 0; --i) {
    const std::size_t start = input.below(bytes.size() - 32);
    const std::size_t most = (bytes.size() - start) / 32;
    const std::size_t count = count_of(input, input.below(4) == 0 ? most : std::min<std::size_t>(most, 20));
    starts.push_back(static_cast<double>(start));
    counts.push_back(static_cast<std::uint32_t>(count));
    const oracle::Bytes layer(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end());
    expected.push_back(oracle::tree(hashes_of(layer, count), height, metainfo::ceil_log2(count)));
  }
  // Exactly this size, so that the sanitizer detects a write past the end.
  oracle::Bytes roots(counts.size() * 32);
  metainfo::hash_layers({bytes.data(), starts.data(), counts.data(), counts.size(), height, roots.data()},
                        kernels);
  for (std::size_t i = 0; i < expected.size(); ++i)
    REQUIRE(std::memcmp(&roots[i * 32], expected[i].data(), 32) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const Kernels& kernels = kernel_lists()[input.below(kernel_lists().size())];
  INFO("kernels from ", name_of(kernels), " on");
  switch (input.below(3)) {
    case 0:
      trees(input, kernels);
      break;
    case 1:
      stack(input, kernels);
      break;
    default:
      layers(input, kernels);
  }
  return 0;
}
