// The kernels for the SHA extensions of x86. A single message waits for the result of each instruction, so
// two or four messages are interleaved, each in registers of its own.
#include "kernels/kernel_functions.h"

#ifdef METAINFO_X86

#include <immintrin.h>

#include <cstddef>
#include <utility>

#include "kernels/sha_constants.h"

#define NI METAINFO_TARGET("sha,ssse3,sse4.1")

namespace metainfo {
namespace {

NI METAINFO_INLINE __m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
NI METAINFO_INLINE void store(void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

// The sixteen words of a block, four per register, in a ring: group g of four rounds uses ring[g % 4].
template <int N>
struct Streams {
  __m128i ring[N][4];
};

// The SHA-1 instructions keep `a` in the top word, so messages and states are loaded with their words
// reversed.
NI METAINFO_INLINE __m128i load_sha1(const std::uint8_t* from) {
  return _mm_shuffle_epi8(load(from), _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
}

template <int N>
struct Sha1Streams : Streams<N> {
  __m128i abcd[N];
  __m128i e[N];
};

template <int Function>
NI METAINFO_INLINE __m128i four_rounds(__m128i abcd, __m128i e) {
  return _mm_sha1rnds4_epu32(abcd, e, Function);
}

// Rounds 4g to 4g + 3 of every stream.
template <std::size_t G, bool Zeros, int N>
NI METAINFO_INLINE void sha1_group(Sha1Streams<N>& s, const std::uint8_t* const* data) {
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    __m128i& w = s.ring[i][G % 4];
    if constexpr (Zeros) {
      w = _mm_setzero_si128();
    } else if constexpr (G < 4) {
      w = load_sha1(data[i] + 16 * G);
    } else {
      const __m128i mixed =
          _mm_xor_si128(_mm_sha1msg1_epu32(w, s.ring[i][(G + 1) % 4]), s.ring[i][(G + 2) % 4]);
      w = _mm_sha1msg2_epu32(mixed, s.ring[i][(G + 3) % 4]);
    }
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    const __m128i w = s.ring[i][G % 4];
    // The first group uses e as it is; later, e is the rotated a of four rounds before.
    const __m128i e = G == 0 ? _mm_add_epi32(s.e[i], w) : _mm_sha1nexte_epu32(s.e[i], w);
    s.e[i] = s.abcd[i];
    s.abcd[i] = four_rounds<G / 5>(s.abcd[i], e);
  }
}

template <bool Zeros, int N, std::size_t... G>
NI METAINFO_INLINE void sha1_block(Sha1Streams<N>& s, const std::uint8_t* const* data,
                                   std::index_sequence<G...>) {
  (sha1_group<G, Zeros>(s, data), ...);
}

template <int N, bool Zeros>
NI METAINFO_INLINE void sha1(Sha1State* const* states, const std::uint8_t* const* messages,
                             std::size_t blocks) {
  Sha1Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = Zeros ? nullptr : messages[i];
    s.abcd[i] = _mm_shuffle_epi32(load(states[i]->h), 0x1b);
    s.e[i] = _mm_set_epi32(static_cast<int>(states[i]->h[4]), 0, 0, 0);
  }
  for (; blocks != 0; --blocks) {
    __m128i abcd[N];
    __m128i e[N];
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) {
      abcd[i] = s.abcd[i];
      e[i] = s.e[i];
    }
    sha1_block<Zeros>(s, data, std::make_index_sequence<20>());
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) {
      s.e[i] = _mm_sha1nexte_epu32(s.e[i], e[i]);
      s.abcd[i] = _mm_add_epi32(s.abcd[i], abcd[i]);
      if (!Zeros) data[i] += 64;
    }
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    store(states[i]->h, _mm_shuffle_epi32(s.abcd[i], 0x1b));
    states[i]->h[4] = static_cast<std::uint32_t>(_mm_extract_epi32(s.e[i], 3));
  }
}

template <int N>
struct Sha256Streams : Streams<N> {
  __m128i abef[N];
  __m128i cdgh[N];
};

NI METAINFO_INLINE __m128i swap_bytes(__m128i words) {
  return _mm_shuffle_epi8(words, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

// The instructions want the state as {a, b, e, f} and {c, d, g, h}, its first word on top.
template <int N>
NI METAINFO_INLINE void set_state(Sha256Streams<N>& s, int i, const std::uint32_t* h) {
  const __m128i badc = _mm_shuffle_epi32(load(h), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(load(h + 4), 0x1b);
  s.abef[i] = _mm_alignr_epi8(badc, hgfe, 8);
  s.cdgh[i] = _mm_blend_epi16(hgfe, badc, 0xf0);
}

template <int N>
NI METAINFO_INLINE void get_state(const Sha256Streams<N>& s, int i, __m128i& abcd, __m128i& efgh) {
  const __m128i feba = _mm_shuffle_epi32(s.abef[i], 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(s.cdgh[i], 0xb1);
  abcd = _mm_blend_epi16(feba, dchg, 0xf0);
  efgh = _mm_alignr_epi8(dchg, feba, 8);
}

template <int N>
NI METAINFO_INLINE void sha256_rounds(Sha256Streams<N>& s, int i, __m128i wk) {
  s.cdgh[i] = _mm_sha256rnds2_epu32(s.cdgh[i], s.abef[i], wk);
  s.abef[i] = _mm_sha256rnds2_epu32(s.abef[i], s.cdgh[i], _mm_shuffle_epi32(wk, 0x0e));
}

template <std::size_t G, int N>
NI METAINFO_INLINE void sha256_group(Sha256Streams<N>& s, const std::uint8_t* const* data) {
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    __m128i& w = s.ring[i][G % 4];
    if constexpr (G < 4) {
      w = swap_bytes(load(data[i] + 16 * G));
    } else {
      const __m128i last = s.ring[i][(G + 3) % 4];
      const __m128i seventh = _mm_alignr_epi8(last, s.ring[i][(G + 2) % 4], 4);
      w = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w, s.ring[i][(G + 1) % 4]), seventh), last);
    }
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) sha256_rounds(s, i, _mm_add_epi32(s.ring[i][G % 4], load(kSha256K + 4 * G)));
}

template <int N, std::size_t... G>
NI METAINFO_INLINE void sha256_block(Sha256Streams<N>& s, const std::uint8_t* const* data,
                                     std::index_sequence<G...>) {
  __m128i abef[N];
  __m128i cdgh[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    abef[i] = s.abef[i];
    cdgh[i] = s.cdgh[i];
  }
  (sha256_group<G>(s, data), ...);
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    s.abef[i] = _mm_add_epi32(s.abef[i], abef[i]);
    s.cdgh[i] = _mm_add_epi32(s.cdgh[i], cdgh[i]);
  }
}

template <int N>
NI METAINFO_INLINE void sha256(Sha256State* const* states, const std::uint8_t* const* messages,
                               std::size_t blocks) {
  Sha256Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = messages[i];
    set_state(s, i, states[i]->h);
  }
  for (; blocks != 0; --blocks) {
    sha256_block(s, data, std::make_index_sequence<16>());
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) data[i] += 64;
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    __m128i abcd;
    __m128i efgh;
    get_state(s, i, abcd, efgh);
    store(states[i]->h, abcd);
    store(states[i]->h + 4, efgh);
  }
}

template <int N>
NI METAINFO_INLINE void nodes(std::uint8_t* out, const std::uint8_t* pairs) {
  Sha256Streams<N> s;
  const std::uint8_t* data[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    data[i] = pairs + 64 * i;
    set_state(s, i, kSha256Initial);
  }
  sha256_block(s, data, std::make_index_sequence<16>());
  __m128i abef[N];
  __m128i cdgh[N];
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    abef[i] = s.abef[i];
    cdgh[i] = s.cdgh[i];
  }
  METAINFO_UNROLL
  for (int g = 0; g < 16; ++g) {
    const __m128i wk = load(kNodePadding.words + 4 * g);
    METAINFO_UNROLL
    for (int i = 0; i < N; ++i) sha256_rounds(s, i, wk);
  }
  METAINFO_UNROLL
  for (int i = 0; i < N; ++i) {
    s.abef[i] = _mm_add_epi32(s.abef[i], abef[i]);
    s.cdgh[i] = _mm_add_epi32(s.cdgh[i], cdgh[i]);
    __m128i abcd;
    __m128i efgh;
    get_state(s, i, abcd, efgh);
    store(out + 32 * i, swap_bytes(abcd));
    store(out + 32 * i + 16, swap_bytes(efgh));
  }
}

}  // namespace

#define KERNEL(name, lanes)                                                                                 \
  NI void name##_sha1_many(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks) { \
    sha1<lanes, false>(states, data, blocks);                                                               \
  }                                                                                                         \
  NI void name##_sha1_zeros(Sha1State* const* states, std::size_t blocks) {                                 \
    sha1<lanes, true>(states, nullptr, blocks);                                                             \
  }                                                                                                         \
  NI void name##_sha256_many(Sha256State* const* states, const std::uint8_t* const* data,                   \
                             std::size_t blocks) {                                                          \
    sha256<lanes>(states, data, blocks);                                                                    \
  }                                                                                                         \
  NI void name##_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs) { nodes<lanes>(out, pairs); }

KERNEL(sha_ni_x1, 1)
KERNEL(sha_ni_x2, 2)
KERNEL(sha_ni_x4, 4)

#undef KERNEL

}  // namespace metainfo

#endif
