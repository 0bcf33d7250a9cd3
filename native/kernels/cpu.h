// Which instruction sets the CPU and the operating system support.
#pragma once

#include <cstdint>

namespace metainfo {

enum CpuFeature : std::uint32_t {
  kShaNi = 1 << 0,   // x86: SHA, SSSE3, SSE4.1
  kAvx2 = 1 << 1,    // x86: AVX2, and a system that saves ymm registers
  kAvx512 = 1 << 2,  // x86: AVX-512 F, BW, DQ, VL, and a system that saves zmm registers
  kArmSha = 1 << 3,  // arm64: the SHA-1 and SHA-256 extensions
};

// A mask of CpuFeature, detected once.
std::uint32_t cpu_features();

}  // namespace metainfo
