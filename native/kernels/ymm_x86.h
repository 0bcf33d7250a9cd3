// The operations that AVX2 and AVX-512VL share: eight lanes in a ymm register. Define LANES before including
// it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace metainfo {
namespace {

struct Ymm {
  using V = __m256i;
  static constexpr std::size_t kLanes = 8;

  LANES static V all(std::uint32_t word) { return _mm256_set1_epi32(static_cast<int>(word)); }
  LANES static V add(V a, V b) { return _mm256_add_epi32(a, b); }
  LANES static V exclusive(V a, V b) { return _mm256_xor_si256(a, b); }
  template <int N>
  LANES static V shift_right(V a) {
    return _mm256_srli_epi32(a, N);
  }
  LANES static V load_aligned(const std::uint32_t* from) {
    return _mm256_load_si256(reinterpret_cast<const V*>(from));
  }
  LANES static void store_aligned(std::uint32_t* to, V value) {
    _mm256_store_si256(reinterpret_cast<V*>(to), value);
  }
  LANES static V swap_bytes(V a) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order));
  }

  // Loads word j of every lane's block into w[j].
  LANES static void load_block(V (&w)[16], const std::uint8_t* const* data, std::size_t at) {
    METAINFO_UNROLL
    for (std::size_t half = 0; half < 2; ++half) {
      V row[8];
      METAINFO_UNROLL
      for (std::size_t i = 0; i < 8; ++i)
        row[i] = _mm256_loadu_si256(reinterpret_cast<const V*>(data[i] + at + 32 * half));
      V pair[8];
      METAINFO_UNROLL
      for (std::size_t i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);
      }
      V quad[8];  // quad[4 * g + k]: words k and k + 4 of lanes 4g to 4g + 3
      METAINFO_UNROLL
      for (std::size_t g = 0; g < 2; ++g) {
        quad[4 * g] = _mm256_unpacklo_epi64(pair[4 * g], pair[4 * g + 2]);
        quad[4 * g + 1] = _mm256_unpackhi_epi64(pair[4 * g], pair[4 * g + 2]);
        quad[4 * g + 2] = _mm256_unpacklo_epi64(pair[4 * g + 1], pair[4 * g + 3]);
        quad[4 * g + 3] = _mm256_unpackhi_epi64(pair[4 * g + 1], pair[4 * g + 3]);
      }
      METAINFO_UNROLL
      for (std::size_t k = 0; k < 4; ++k) {
        w[8 * half + k] = swap_bytes(_mm256_permute2x128_si256(quad[k], quad[k + 4], 0x20));
        w[8 * half + k + 4] = swap_bytes(_mm256_permute2x128_si256(quad[k], quad[k + 4], 0x31));
      }
    }
  }
};

}  // namespace
}  // namespace metainfo
