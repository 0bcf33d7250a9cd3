// The kernels for the SHA extensions of ARMv8. A single message waits for the result of each instruction, so
// two or four messages are interleaved, each in registers of its own.
#include "kernels/kernel_functions.h"

#ifdef METAINFO_ARM64

// Before version 16, clang declares these intrinsics only if the whole file may use them.
#if defined(__clang__) && __clang_major__ < 16 && !defined(__ARM_FEATURE_SHA2)
#define __ARM_FEATURE_SHA2 1
#endif
#include <arm_neon.h>

#include <cstddef>
#include <utility>

#include "kernels/sha_constants.h"

// gcc has the intrinsics under the wider feature "crypto"; clang before 16 knows no name with a plus.
#ifdef __clang__
#define CE METAINFO_TARGET("sha2")
#else
#define CE METAINFO_TARGET("+crypto")
#endif

namespace metainfo {
namespace {

CE METAINFO_INLINE uint32x4_t swap_bytes(uint32x4_t words) {
  return vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(words)));
}

// Loads bytes, because messages are not aligned.
CE METAINFO_INLINE uint32x4_t load_words(const std::uint8_t* from) {
  return swap_bytes(vreinterpretq_u32_u8(vld1q_u8(from)));
}

CE METAINFO_INLINE void store_words(std::uint8_t* to, uint32x4_t words) {
  vst1q_u8(to, vreinterpretq_u8_u32(swap_bytes(words)));
}

// The sixteen words of a block of every message, four per register, in a ring: group g of four rounds uses
// ring[i][g % 4].
template <int N>
using Ring = uint32x4_t[N][4];

template <int N>
struct Sha1Streams {
  uint32x4_t abcd[N];
  std::uint32_t e[N];
};

template <std::size_t Function>
CE METAINFO_INLINE uint32x4_t four_rounds(uint32x4_t abcd, std::uint32_t e, uint32x4_t wk) {
  if constexpr (Function == 0) return vsha1cq_u32(abcd, e, wk);
  if constexpr (Function == 2) return vsha1mq_u32(abcd, e, wk);
  return vsha1pq_u32(abcd, e, wk);
}

// Rounds 4g to 4g + 3 of every stream.
template <std::size_t G, bool Zeros, int N>
CE METAINFO_INLINE void sha1_group(Sha1Streams<N>& s, Ring<N>& ring, const std::uint8_t* const* data) {
  const uint32x4_t k = vdupq_n_u32(kSha1K[G / 5]);
  uint32x4_t wk[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    uint32x4_t& w = ring[i][G % 4];
    if constexpr (Zeros) {
      wk[i] = k;
    } else if constexpr (G < 4) {
      w = load_words(data[i] + 16 * G);
      wk[i] = vaddq_u32(w, k);
    } else {
      const uint32x4_t mixed = vsha1su0q_u32(w, ring[i][(G + 1) % 4], ring[i][(G + 2) % 4]);
      w = vsha1su1q_u32(mixed, ring[i][(G + 3) % 4]);
      wk[i] = vaddq_u32(w, k);
    }
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    // Four rounds later, the rotated a becomes e.
    const std::uint32_t e = vsha1h_u32(vgetq_lane_u32(s.abcd[i], 0));
    s.abcd[i] = four_rounds<G / 5>(s.abcd[i], s.e[i], wk[i]);
    s.e[i] = e;
  }
}

template <bool Zeros, int N, std::size_t... G>
CE METAINFO_INLINE void sha1_block(Sha1Streams<N>& s, const std::uint8_t* const* data,
                                   std::index_sequence<G...>) {
  const Sha1Streams<N> before = s;
  Ring<N> ring;
  (sha1_group<G, Zeros, N>(s, ring, data), ...);
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    s.abcd[i] = vaddq_u32(s.abcd[i], before.abcd[i]);
    s.e[i] += before.e[i];
  }
}

template <int N, bool Zeros>
CE METAINFO_INLINE void sha1(Sha1State* const* states, const std::uint8_t* const* messages,
                             std::size_t blocks) {
  Sha1Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = Zeros ? nullptr : messages[i];
    s.abcd[i] = vld1q_u32(states[i]->h);
    s.e[i] = states[i]->h[4];
  }
  for (; blocks != 0; --blocks) {
    sha1_block<Zeros>(s, data, std::make_index_sequence<20>());
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i)
      if (!Zeros) data[i] += 64;
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    vst1q_u32(states[i]->h, s.abcd[i]);
    states[i]->h[4] = s.e[i];
  }
}

template <int N>
struct Sha256Streams {
  uint32x4_t abcd[N];
  uint32x4_t efgh[N];
};

template <int N>
CE METAINFO_INLINE void add(Sha256Streams<N>& s, const Sha256Streams<N>& before) {
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    s.abcd[i] = vaddq_u32(s.abcd[i], before.abcd[i]);
    s.efgh[i] = vaddq_u32(s.efgh[i], before.efgh[i]);
  }
}

template <int N>
CE METAINFO_INLINE void four_rounds(Sha256Streams<N>& s, int i, uint32x4_t wk) {
  const uint32x4_t abcd = s.abcd[i];
  s.abcd[i] = vsha256hq_u32(abcd, s.efgh[i], wk);
  s.efgh[i] = vsha256h2q_u32(s.efgh[i], abcd, wk);
}

template <std::size_t G, int N>
CE METAINFO_INLINE void sha256_group(Sha256Streams<N>& s, Ring<N>& ring, const std::uint8_t* const* data) {
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    uint32x4_t& w = ring[i][G % 4];
    if constexpr (G < 4) {
      w = load_words(data[i] + 16 * G);
    } else {
      const uint32x4_t mixed = vsha256su0q_u32(w, ring[i][(G + 1) % 4]);
      w = vsha256su1q_u32(mixed, ring[i][(G + 2) % 4], ring[i][(G + 3) % 4]);
    }
  }
  const uint32x4_t k = vld1q_u32(kSha256K + 4 * G);
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) four_rounds(s, i, vaddq_u32(ring[i][G % 4], k));
}

template <int N, std::size_t... G>
CE METAINFO_INLINE void sha256_block(Sha256Streams<N>& s, const std::uint8_t* const* data,
                                     std::index_sequence<G...>) {
  const Sha256Streams<N> before = s;
  Ring<N> ring;
  (sha256_group<G, N>(s, ring, data), ...);
  add(s, before);
}

template <int N>
CE METAINFO_INLINE void sha256(Sha256State* const* states, const std::uint8_t* const* messages,
                               std::size_t blocks) {
  Sha256Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = messages[i];
    s.abcd[i] = vld1q_u32(states[i]->h);
    s.efgh[i] = vld1q_u32(states[i]->h + 4);
  }
  for (; blocks != 0; --blocks) {
    sha256_block(s, data, std::make_index_sequence<16>());
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) data[i] += 64;
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    vst1q_u32(states[i]->h, s.abcd[i]);
    vst1q_u32(states[i]->h + 4, s.efgh[i]);
  }
}

template <int N>
CE METAINFO_INLINE void nodes(std::uint8_t* out, const std::uint8_t* pairs) {
  Sha256Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = pairs + 64 * i;
    s.abcd[i] = vld1q_u32(kSha256Initial);
    s.efgh[i] = vld1q_u32(kSha256Initial + 4);
  }
  sha256_block(s, data, std::make_index_sequence<16>());
  const Sha256Streams<N> before = s;
  for (int g = 0; g < 16; ++g) {
    const uint32x4_t wk = vld1q_u32(kNodePadding.words + 4 * g);
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) four_rounds(s, i, wk);
  }
  add(s, before);
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    store_words(out + 32 * i, s.abcd[i]);
    store_words(out + 32 * i + 16, s.efgh[i]);
  }
}

}  // namespace

#define KERNEL(name, lanes)                                                                                 \
  CE void name##_sha1_many(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks) { \
    sha1<lanes, false>(states, data, blocks);                                                               \
  }                                                                                                         \
  CE void name##_sha1_zeros(Sha1State* const* states, std::size_t blocks) {                                 \
    sha1<lanes, true>(states, nullptr, blocks);                                                             \
  }                                                                                                         \
  CE void name##_sha256_many(Sha256State* const* states, const std::uint8_t* const* data,                   \
                             std::size_t blocks) {                                                          \
    sha256<lanes>(states, data, blocks);                                                                    \
  }                                                                                                         \
  CE void name##_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs) { nodes<lanes>(out, pairs); }

KERNEL(sha_ce_x2, 2)
KERNEL(sha_ce_x4, 4)

#undef KERNEL

}  // namespace metainfo

#endif
