// The AVX-512 kernels: sixteen messages in zmm registers, or eight in ymm registers. Any bitwise function of
// three inputs is a single instruction, and so is a rotation.
#include "kernels/kernel_functions.h"

#ifdef METAINFO_X86

// The header of gcc passes an undefined vector on purpose:
// https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105593
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LANES METAINFO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2") METAINFO_INLINE
#include "kernels/lanes_x86.h"
#include "kernels/ymm_x86.h"

namespace metainfo {
namespace {

// Truth tables of vpternlog: bit 4a + 2b + c.
constexpr int kChoose = 0xca;
constexpr int kMajority = 0xe8;
constexpr int kParity = 0x96;

struct Avx512Ymm : Ymm {
  template <int N>
  LANES static V rotate_left(V a) {
    return _mm256_rol_epi32(a, N);
  }
  template <int N>
  LANES static V rotate_right(V a) {
    return _mm256_ror_epi32(a, N);
  }
  LANES static V parity(V a, V b, V c) { return _mm256_ternarylogic_epi32(a, b, c, kParity); }
  LANES static V choose(V a, V b, V c) { return _mm256_ternarylogic_epi32(a, b, c, kChoose); }
  LANES static V majority(V a, V b, V c) { return _mm256_ternarylogic_epi32(a, b, c, kMajority); }
};

struct Avx512Zmm {
  using V = __m512i;
  static constexpr std::size_t kLanes = 16;

  LANES static V all(std::uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }
  LANES static V add(V a, V b) { return _mm512_add_epi32(a, b); }
  LANES static V exclusive(V a, V b) { return _mm512_xor_si512(a, b); }
  template <int N>
  LANES static V shift_right(V a) {
    return _mm512_srli_epi32(a, N);
  }
  template <int N>
  LANES static V rotate_left(V a) {
    return _mm512_rol_epi32(a, N);
  }
  template <int N>
  LANES static V rotate_right(V a) {
    return _mm512_ror_epi32(a, N);
  }
  LANES static V parity(V a, V b, V c) { return _mm512_ternarylogic_epi32(a, b, c, kParity); }
  LANES static V choose(V a, V b, V c) { return _mm512_ternarylogic_epi32(a, b, c, kChoose); }
  LANES static V majority(V a, V b, V c) { return _mm512_ternarylogic_epi32(a, b, c, kMajority); }
  LANES static V load_aligned(const std::uint32_t* from) { return _mm512_load_si512(from); }
  LANES static void store_aligned(std::uint32_t* to, V value) { _mm512_store_si512(to, value); }
  LANES static V swap_bytes(V a) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(order));
  }

  // Loads word j of every lane's block into w[j]: a 16 by 16 transposition in registers.
  LANES static void load_block(V (&w)[16], const std::uint8_t* const* data, std::size_t at) {
    V row[16];
    METAINFO_UNROLL
    for (std::size_t i = 0; i < 16; ++i) row[i] = _mm512_loadu_si512(data[i] + at);
    V quad[16];  // quad[4 * g + k]: words k, k + 4, k + 8, k + 12 of lanes 4g to 4g + 3
    METAINFO_UNROLL
    for (std::size_t g = 0; g < 16; g += 4) {
      const V low01 = _mm512_unpacklo_epi32(row[g], row[g + 1]);
      const V high01 = _mm512_unpackhi_epi32(row[g], row[g + 1]);
      const V low23 = _mm512_unpacklo_epi32(row[g + 2], row[g + 3]);
      const V high23 = _mm512_unpackhi_epi32(row[g + 2], row[g + 3]);
      quad[g] = _mm512_unpacklo_epi64(low01, low23);
      quad[g + 1] = _mm512_unpackhi_epi64(low01, low23);
      quad[g + 2] = _mm512_unpacklo_epi64(high01, high23);
      quad[g + 3] = _mm512_unpackhi_epi64(high01, high23);
    }
    METAINFO_UNROLL
    for (std::size_t k = 0; k < 4; ++k) {
      const V low = _mm512_shuffle_i32x4(quad[k], quad[4 + k], 0x44);   // words k, k + 4 of lanes 0 to 7
      const V high = _mm512_shuffle_i32x4(quad[k], quad[4 + k], 0xee);  // words k + 8, k + 12
      const V low_upper = _mm512_shuffle_i32x4(quad[8 + k], quad[12 + k], 0x44);  // of lanes 8 to 15
      const V high_upper = _mm512_shuffle_i32x4(quad[8 + k], quad[12 + k], 0xee);
      w[k] = swap_bytes(_mm512_shuffle_i32x4(low, low_upper, 0x88));
      w[4 + k] = swap_bytes(_mm512_shuffle_i32x4(low, low_upper, 0xdd));
      w[8 + k] = swap_bytes(_mm512_shuffle_i32x4(high, high_upper, 0x88));
      w[12 + k] = swap_bytes(_mm512_shuffle_i32x4(high, high_upper, 0xdd));
    }
  }
};

}  // namespace

METAINFO_LANES_KERNEL(avx512_x8, Avx512Ymm, METAINFO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2"))
METAINFO_LANES_KERNEL(avx512_x16, Avx512Zmm, METAINFO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2"))

}  // namespace metainfo

#endif
