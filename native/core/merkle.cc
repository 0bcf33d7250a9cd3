#include "core/merkle.h"

#include <algorithm>

namespace metainfo {

Sha256Digest merkle_node(const Kernel& kernel, const Sha256Digest& left, const Sha256Digest& right) {
  Message<Sha256> message(kernel);
  message.update(left.data(), left.size());
  message.update(right.data(), right.size());
  return message.finish();
}

ZeroSubtrees zero_subtrees(const Kernel& kernel) {
  ZeroSubtrees zeros{};
  for (std::size_t i = 1; i < zeros.size(); ++i) zeros[i] = merkle_node(kernel, zeros[i - 1], zeros[i - 1]);
  return zeros;
}

// A tree may be higher than its count has bits: all of it past them is padding.
constexpr unsigned kCountBits = 64;

void MerkleStack::push(Sha256Digest hash) {
  unsigned level = 0;
  for (; (count_ >> level) & 1; ++level) hash = merkle_node(kernel_, full_[level], hash);
  full_[level] = hash;
  ++count_;
}

Sha256Digest MerkleStack::root(unsigned height) const {
  if (height < kCountBits && count_ == std::uint64_t{1} << height) return full_[height];
  Sha256Digest root{};
  bool started = false;
  for (unsigned level = 0; level < height; ++level) {
    const bool full = level < kCountBits && ((count_ >> level) & 1);
    if (!full && !started) continue;
    const Sha256Digest& padding = zeros_[base_ + level];
    if (!started) {
      root = merkle_node(kernel_, full_[level], padding);
    } else if (full) {
      root = merkle_node(kernel_, full_[level], root);
    } else {
      root = merkle_node(kernel_, root, padding);
    }
    started = true;
  }
  return root;
}

Sha256Digest layer_root(const Kernel& kernel, const ZeroSubtrees& zeros, const std::uint8_t* hashes,
                        std::uint64_t count, unsigned height) {
  MerkleStack stack(kernel, zeros, height);
  for (std::uint64_t i = 0; i < count; ++i) {
    Sha256Digest hash;
    std::copy_n(hashes + i * hash.size(), hash.size(), hash.begin());
    stack.push(hash);
  }
  return stack.root(ceil_log2(count));
}

}  // namespace metainfo
