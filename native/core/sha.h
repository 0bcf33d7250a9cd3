// SHA-1 and SHA-256 of one message, fed in parts, on one lane of a kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/kernel.h"

namespace metainfo {

using Sha1Digest = std::array<std::uint8_t, 20>;
using Sha256Digest = std::array<std::uint8_t, 32>;

struct Sha1 {
  using State = Sha1State;
  using Digest = Sha1Digest;
  static constexpr State kInitial{{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
  static void many(const Kernel& kernel, State* states, const std::uint8_t* const* data, std::size_t blocks) {
    kernel.sha1_many(states, data, blocks);
  }
};

struct Sha256 {
  using State = Sha256State;
  using Digest = Sha256Digest;
  static constexpr State kInitial{
      {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
  static void many(const Kernel& kernel, State* states, const std::uint8_t* const* data, std::size_t blocks) {
    kernel.sha256_many(states, data, blocks);
  }
};

// A message in the making. The kernel must have one lane.
template <typename Sha>
class Message {
 public:
  explicit Message(const Kernel& kernel) : kernel_(kernel) {}

  void update(const std::uint8_t* data, std::size_t size) {
    // An empty source may be null, which memcpy does not take.
    if (size == 0) return;
    if (partial() != 0) {
      const std::size_t taken = std::min(size, kBlock - partial());
      std::memcpy(block_ + partial(), data, taken);
      length_ += taken;
      data += taken;
      size -= taken;
      if (partial() != 0) return;
      compress(block_, 1);
    }
    if (const std::size_t blocks = size / kBlock; blocks != 0) {
      compress(data, blocks);
      length_ += blocks * kBlock;
      data += blocks * kBlock;
      size -= blocks * kBlock;
    }
    std::memcpy(block_, data, size);
    length_ += size;
  }

  // The same as update() with `size` zero bytes, read from no file.
  void zeros(std::uint64_t size) {
    static constexpr std::uint8_t kZeros[1 << 14] = {};
    for (; size != 0;) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof kZeros));
      update(kZeros, part);
      size -= part;
    }
  }

  typename Sha::Digest finish() {
    const std::uint64_t bits = length_ * 8;
    const std::size_t used = partial();
    block_[used] = 0x80;
    std::memset(block_ + used + 1, 0, kBlock - used - 1);
    if (used + 1 > kBlock - 8) {
      compress(block_, 1);
      std::memset(block_, 0, kBlock);
    }
    for (std::size_t i = 0; i < 8; ++i) block_[kBlock - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
    compress(block_, 1);
    typename Sha::Digest digest;
    for (std::size_t i = 0; i < digest.size(); ++i)
      digest[i] = static_cast<std::uint8_t>(state_.h[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  std::size_t partial() const { return static_cast<std::size_t>(length_ % kBlock); }
  void compress(const std::uint8_t* data, std::size_t blocks) { Sha::many(kernel_, &state_, &data, blocks); }

  const Kernel& kernel_;
  typename Sha::State state_ = Sha::kInitial;
  std::uint64_t length_ = 0;
  std::uint8_t block_[kBlock];
};

}  // namespace metainfo
