// Reduces layers of hashes to roots, with as many nodes at once as the kernels have lanes.
#include "core/hash/merkle.h"

#include <algorithm>
#include <cstring>

namespace metainfo {
namespace {

// Hashes one pair to the node above it.
void node(const Kernels& kernels, const std::uint8_t* left, const std::uint8_t* right, std::uint8_t* out) {
  std::uint8_t pair[2 * kHashSize];
  std::memcpy(pair, left, kHashSize);
  std::memcpy(pair + kHashSize, right, kHashSize);
  merkle_nodes(kernels, out, pair, 1);
}

Sha256Digest to_digest(const std::uint8_t* bytes) {
  Sha256Digest digest;
  std::memcpy(digest.data(), bytes, kHashSize);
  return digest;
}

// A long layer is reduced in sections of this many hashes: 32 KiB on the stack.
constexpr std::size_t kSectionHeight = 10;
constexpr std::size_t kSection = std::size_t{1} << kSectionHeight;

}  // namespace

void merkle_nodes(const Kernels& kernels, std::uint8_t* out, const std::uint8_t* pairs, std::size_t count) {
  constexpr std::size_t kPair = 2 * kHashSize;
  distribute(
      kernels, count, [](const Kernel& kernel) { return kernel.sha256_nodes != nullptr; },
      [&](const Kernel& kernel, std::size_t first) {
        if (count - first >= kernel.lanes)
          return kernel.sha256_nodes(out + first * kHashSize, pairs + first * kPair);
        std::uint8_t spare[kMaxLanes * kPair] = {};
        std::memcpy(spare, pairs + first * kPair, (count - first) * kPair);
        kernel.sha256_nodes(spare, spare);
        std::memcpy(out + first * kHashSize, spare, (count - first) * kHashSize);
      },
      kernels.first_sha256);
}

ZeroSubtrees zero_subtrees(const Kernels& kernels) {
  ZeroSubtrees zeros{};
  for (std::size_t i = 1; i < zeros.size(); ++i)
    node(kernels, zeros[i - 1].data(), zeros[i - 1].data(), zeros[i].data());
  return zeros;
}

const ZeroSubtrees& shared_zero_subtrees(const Kernels& kernels) {
  static const ZeroSubtrees zeros = zero_subtrees(kernels);
  return zeros;
}

void Trees::reduce(std::uint8_t* layer, std::size_t count, unsigned base, unsigned height) const {
  for (unsigned level = 0; level < height; ++level) {
    if (count % 2 != 0) {
      std::memcpy(layer + count * kHashSize, zeros[base + level].data(), kHashSize);
      ++count;
    }
    count /= 2;
    merkle_nodes(kernels, layer, layer, count);
  }
}

Sha256Digest Trees::root(const std::uint8_t* layer, std::uint64_t count, unsigned base,
                         unsigned height) const {
  std::uint8_t section[(kSection + 1) * kHashSize];
  if (count <= kSection) {
    std::memcpy(section, layer, static_cast<std::size_t>(count) * kHashSize);
    reduce(section, static_cast<std::size_t>(count), base, height);
    return to_digest(section);
  }
  SubtreeStack sections(*this, base + kSectionHeight);
  for (std::uint64_t at = 0; at < count; at += kSection) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(kSection, count - at));
    std::memcpy(section, layer + at * kHashSize, length * kHashSize);
    reduce(section, length, base, kSectionHeight);
    sections.push(section);
  }
  return sections.root(base + height);
}

void SubtreeStack::push(const std::uint8_t* root) {
  Sha256Digest hash = to_digest(root);
  unsigned level = 0;
  for (; (count_ >> level) & 1; ++level) node(trees_.kernels, full_[level].data(), hash.data(), hash.data());
  full_[level] = hash;
  ++count_;
}

Sha256Digest SubtreeStack::root(unsigned height) const {
  Sha256Digest result{};
  bool started = false;
  for (unsigned level = 0;; ++level) {
    // A tree may be higher than its count has bits: everything above them is padding.
    const bool full = level < 64 && ((count_ >> level) & 1);
    if (base_ + level == height) return full ? full_[level] : result;
    if (!started && !full) continue;
    const std::uint8_t* padding = trees_.zeros[base_ + level].data();
    if (!started) {
      node(trees_.kernels, full_[level].data(), padding, result.data());
    } else if (full) {
      node(trees_.kernels, full_[level].data(), result.data(), result.data());
    } else {
      node(trees_.kernels, result.data(), padding, result.data());
    }
    started = true;
  }
}

void GrowingTree::pushed() {
  ++leaves_;
  if (leaves_ % kSubtreeLeaves != 0) return;
  trees_.reduce(subtree_, kSubtreeLeaves, 0, kSubtreeHeight);
  subtrees_.push(subtree_);
}

Sha256Digest GrowingTree::root(unsigned height) {
  const auto rest = static_cast<std::size_t>(leaves_ % kSubtreeLeaves);
  if (leaves_ < kSubtreeLeaves) {
    trees_.reduce(subtree_, rest, 0, height);
    return to_digest(subtree_);
  }
  if (rest != 0) {
    trees_.reduce(subtree_, rest, 0, kSubtreeHeight);
    subtrees_.push(subtree_);
  }
  return subtrees_.root(height);
}

}  // namespace metainfo
