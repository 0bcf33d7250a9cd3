// The AVX2 kernel: eight messages side by side, for CPUs without SHA extensions.
#include "kernels/kernel_functions.h"

#ifdef METAINFO_X86

#define LANES METAINFO_TARGET("avx2") METAINFO_INLINE
#include "kernels/lanes_x86.h"
#include "kernels/ymm_x86.h"

namespace metainfo {
namespace {

struct Avx2 : Ymm {
  template <int N>
  LANES static V rotate_left(V a) {
    return _mm256_or_si256(_mm256_slli_epi32(a, N), _mm256_srli_epi32(a, 32 - N));
  }
  template <int N>
  LANES static V rotate_right(V a) {
    return rotate_left<32 - N>(a);
  }
  LANES static V parity(V a, V b, V c) { return exclusive(exclusive(a, b), c); }
  LANES static V choose(V a, V b, V c) { return exclusive(c, _mm256_and_si256(a, exclusive(b, c))); }
  LANES static V majority(V a, V b, V c) {
    return exclusive(b, _mm256_and_si256(exclusive(a, b), exclusive(b, c)));
  }
};

}  // namespace

METAINFO_LANES_KERNEL(avx2_x8, Avx2, METAINFO_TARGET("avx2"))

}  // namespace metainfo

#endif
