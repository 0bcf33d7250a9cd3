// SHA-1 and SHA-256 of many messages at once, spread over the kernels that fit their number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernel.h"

namespace metainfo {

using Sha1Digest = std::array<std::uint8_t, 20>;
using Sha256Digest = std::array<std::uint8_t, 32>;

constexpr std::size_t kShaBlock = 64;

struct Sha1 {
  using State = Sha1State;
  using Digest = Sha1Digest;
  static constexpr State kInitial{{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
  static auto many(const Kernel& kernel) { return kernel.sha1_many; }
  static std::size_t first(const Kernels&) { return 0; }
};

struct Sha256 {
  using State = Sha256State;
  using Digest = Sha256Digest;
  static constexpr State kInitial{
      {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
  static auto many(const Kernel& kernel) { return kernel.sha256_many; }
  static std::size_t first(const Kernels& kernels) { return kernels.first_sha256; }
};

template <typename State>
void write_digest(const State& state, std::uint8_t* out) {
  for (const std::uint32_t word : state.h)
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = static_cast<std::uint8_t>(word >> shift);
}

// The blocks by which to advance one state.
template <typename Sha>
struct HashInput {
  typename Sha::State* state;
  const std::uint8_t* data;
  std::size_t blocks;
};

// Spreads `count` messages over the kernels, widest first: `call(kernel, first)` hashes the messages from
// `first` on, as many as the kernel has lanes. If fewer messages are left, the lanes after the last one are
// spare. `index` is the first kernel to use.
template <typename Serves, typename Call>
void distribute(const Kernels& kernels, std::size_t count, Serves serves, Call call, std::size_t index = 0) {
  for (std::size_t first = 0; first < count; ++index) {
    const Kernel& kernel = *kernels.list[index];
    if (!serves(kernel)) continue;
    while (count - first >= kernel.min_messages) {
      call(kernel, first);
      first += std::min(kernel.lanes, count - first);
      if (first == count) break;
    }
  }
}

// Bytes between the buffers of lanes: their starts must not all fall into the same set of the cache. The gap
// also has room for the zeros that complete the last block of content.
constexpr std::size_t kLaneGap = 192;

// Advances `count` states, at most kMaxLanes, by the same number of blocks each.
template <typename Sha>
void advance(const Kernels& kernels, typename Sha::State* const* states, const std::uint8_t* const* data,
             std::size_t count, std::size_t blocks) {
  typename Sha::State* spare_states[kMaxLanes];
  const std::uint8_t* spare_data[kMaxLanes];
  distribute(
      kernels, count, [](const Kernel& kernel) { return Sha::many(kernel) != nullptr; },
      [&](const Kernel& kernel, std::size_t first) {
        if (count - first >= kernel.lanes) return Sha::many(kernel)(states + first, data + first, blocks);
        // Spare lanes hash the last message again.
        for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
          const std::size_t source = std::min(first + lane, count - 1);
          spare_states[lane] = states[source];
          spare_data[lane] = data[source];
        }
        Sha::many(kernel)(spare_states, spare_data, blocks);
      },
      Sha::first(kernels));
}

// Advances SHA-1 states over blocks of zeros.
inline void advance_zeros(const Kernels& kernels, Sha1State* const* states, std::size_t count,
                          std::size_t blocks) {
  Sha1State* spare[kMaxLanes];
  distribute(
      kernels, count, [](const Kernel& kernel) { return kernel.sha1_zeros != nullptr; },
      [&](const Kernel& kernel, std::size_t first) {
        for (std::size_t lane = 0; lane < kernel.lanes; ++lane)
          spare[lane] = states[std::min(first + lane, count - 1)];
        kernel.sha1_zeros(spare, blocks);
      });
}

// Advances any number of states, each by its own number of blocks. All lanes advance by as many blocks as the
// shortest input has left; then the next input takes its lane. When no input is left, narrower kernels finish
// the rest.
template <typename Sha>
void advance_all(const Kernels& kernels, const HashInput<Sha>* inputs, std::size_t count) {
  typename Sha::State* states[kMaxLanes];
  const std::uint8_t* data[kMaxLanes];
  std::size_t left[kMaxLanes];
  std::size_t lanes = 0;
  std::size_t next = 0;
  for (;;) {
    for (; lanes < kMaxLanes && next < count; ++next) {
      if (inputs[next].blocks == 0) continue;
      states[lanes] = inputs[next].state;
      data[lanes] = inputs[next].data;
      left[lanes++] = inputs[next].blocks;
    }
    if (lanes == 0) return;
    const std::size_t step = *std::min_element(left, left + lanes);
    advance<Sha>(kernels, states, data, lanes, step);
    std::size_t kept = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (left[lane] == step) continue;
      states[kept] = states[lane];
      data[kept] = data[lane] + step * kShaBlock;
      left[kept++] = left[lane] - step;
    }
    lanes = kept;
  }
}

// The end of a message: its last bytes, fewer than a block, and the padding of FIPS 180-4, 5.1.1.
class Tail {
 public:
  // `size` is the length of the whole message; `rest` are its last size % 64 bytes.
  void set(const std::uint8_t* rest, std::uint64_t size) {
    const auto used = static_cast<std::size_t>(size % kShaBlock);
    if (used != 0) std::memcpy(bytes_, rest, used);
    finish(size);
  }

  // The same for a message whose last bytes are zeros.
  void set_zeros(std::uint64_t size) {
    std::memset(bytes_, 0, static_cast<std::size_t>(size % kShaBlock));
    finish(size);
  }

  const std::uint8_t* data() const { return bytes_; }
  std::size_t blocks() const { return blocks_; }

 private:
  void finish(std::uint64_t size) {
    const auto used = static_cast<std::size_t>(size % kShaBlock);
    blocks_ = used + 1 + 8 <= kShaBlock ? 1 : 2;
    const std::size_t end = blocks_ * kShaBlock;
    bytes_[used] = 0x80;
    std::memset(bytes_ + used + 1, 0, end - used - 1);
    const std::uint64_t bits = size * 8;
    for (std::size_t i = 0; i < 8; ++i) bytes_[end - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }

  std::uint8_t bytes_[2 * kShaBlock];
  std::size_t blocks_ = 0;
};

// Hashes whole messages in memory side by side.
template <typename Sha>
class Messages {
 public:
  // `data` must stay valid until run(), which writes the digest to `out`.
  void add(const std::uint8_t* data, std::size_t size, std::uint8_t* out) {
    list_.push_back({data, size, out});
  }

  void run(const Kernels& kernels) {
    states_.assign(list_.size(), Sha::kInitial);
    tails_.resize(list_.size());
    inputs_.clear();
    for (std::size_t i = 0; i < list_.size(); ++i)
      inputs_.push_back({&states_[i], list_[i].data, list_[i].size / kShaBlock});
    advance_all<Sha>(kernels, inputs_.data(), inputs_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const auto& [data, size, out] = list_[i];
      tails_[i].set(data + size / kShaBlock * kShaBlock, size);
      inputs_[i] = {&states_[i], tails_[i].data(), tails_[i].blocks()};
    }
    advance_all<Sha>(kernels, inputs_.data(), inputs_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) write_digest(states_[i], list_[i].out);
    list_.clear();
  }

 private:
  struct Message {
    const std::uint8_t* data;
    std::size_t size;
    std::uint8_t* out;
  };

  std::vector<Message> list_;
  std::vector<typename Sha::State> states_;
  std::vector<Tail> tails_;
  std::vector<HashInput<Sha>> inputs_;
};

}  // namespace metainfo
