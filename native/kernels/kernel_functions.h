// Declares the functions of every kernel for registry.cc, and the compiler attributes that kernels need.
#pragma once

#include "kernels/kernel.h"

#if defined(__x86_64__) || defined(_M_X64)
#define METAINFO_X86 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#define METAINFO_ARM64 1
#endif

// Enables an instruction set for one function, never for a whole file: the functions that run on every CPU
// must not contain its instructions.
#if defined(__GNUC__) || defined(__clang__)
#define METAINFO_TARGET(isa) __attribute__((target(isa)))
#define METAINFO_INLINE inline __attribute__((always_inline))
// Goes before a loop over lanes or words: only unrolled loops keep their arrays in registers.
#define METAINFO_UNROLL _Pragma("GCC unroll 16")
#else
#define METAINFO_TARGET(isa)
#define METAINFO_INLINE __forceinline
#define METAINFO_UNROLL
#endif

namespace metainfo {

void openssl_sha1_many(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks);
void openssl_sha1_zeros(Sha1State* const* states, std::size_t blocks);
void openssl_sha256_many(Sha256State* const* states, const std::uint8_t* const* data, std::size_t blocks);
void openssl_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs);

#define METAINFO_DECLARE(prefix)                                                                          \
  void prefix##_sha1_many(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks); \
  void prefix##_sha1_zeros(Sha1State* const* states, std::size_t blocks);                                 \
  void prefix##_sha256_many(Sha256State* const* states, const std::uint8_t* const* data,                  \
                            std::size_t blocks);                                                          \
  void prefix##_sha256_nodes(std::uint8_t* out, const std::uint8_t* pairs);

#ifdef METAINFO_X86
METAINFO_DECLARE(sha_ni_x1)
METAINFO_DECLARE(sha_ni_x2)
METAINFO_DECLARE(sha_ni_x4)
METAINFO_DECLARE(avx2_x8)
METAINFO_DECLARE(avx512_x8)
METAINFO_DECLARE(avx512_x16)
#endif
#ifdef METAINFO_ARM64
METAINFO_DECLARE(sha_ce_x2)
METAINFO_DECLARE(sha_ce_x4)
#endif

#undef METAINFO_DECLARE

}  // namespace metainfo
