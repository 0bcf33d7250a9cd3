// Detects CPU features with CPUID on x86 and by asking the system on arm64.
#include "kernels/cpu.h"

#include "kernels/kernel_functions.h"

#ifdef METAINFO_X86
#ifdef _MSC_VER
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

#ifdef METAINFO_ARM64
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif
#endif

namespace metainfo {
namespace {

#ifdef METAINFO_X86

struct Leaf {
  std::uint32_t a, b, c, d;
};

// Zeros if the CPU does not have the leaf.
Leaf cpuid(std::uint32_t number) {
  Leaf leaf{};
#ifdef _MSC_VER
  int highest[4];
  int values[4];
  __cpuid(highest, 0);
  if (number > static_cast<std::uint32_t>(highest[0])) return leaf;
  __cpuidex(values, static_cast<int>(number), 0);
  leaf = {static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]),
          static_cast<std::uint32_t>(values[2]), static_cast<std::uint32_t>(values[3])};
#else
  __get_cpuid_count(number, 0, &leaf.a, &leaf.b, &leaf.c, &leaf.d);
#endif
  return leaf;
}

// XCR0: the registers that the system saves when it switches threads. Valid only if CPUID reports OSXSAVE.
std::uint32_t saved_registers() {
#ifdef _MSC_VER
  return static_cast<std::uint32_t>(_xgetbv(0));
#else
  std::uint32_t low;
  std::uint32_t high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
#endif
}

std::uint32_t detect() {
  constexpr auto bit = [](unsigned n) { return std::uint32_t{1} << n; };
  constexpr std::uint32_t ssse3 = bit(9), sse41 = bit(19), osxsave = bit(27), avx = bit(28);  // leaf 1, ecx
  constexpr std::uint32_t avx2 = bit(5), sha = bit(29);                                       // leaf 7, ebx
  constexpr std::uint32_t avx512 = bit(16) | bit(17) | bit(30) | bit(31);  // leaf 7, ebx: F, DQ, BW, VL
  constexpr std::uint32_t ymm = bit(1) | bit(2);                           // XCR0: xmm, upper halves of ymm
  constexpr std::uint32_t zmm = ymm | bit(5) | bit(6) | bit(7);  // masks, upper halves of zmm, zmm 16 to 31
  const auto all = [](std::uint32_t value, std::uint32_t mask) { return (value & mask) == mask; };
  const Leaf basic = cpuid(1);
  const Leaf extended = cpuid(7);
  const std::uint32_t saved = all(basic.c, osxsave) ? saved_registers() : 0;
  std::uint32_t features = 0;
  if (all(basic.c, ssse3 | sse41) && all(extended.b, sha)) features |= kShaNi;
  if (all(basic.c, avx) && all(extended.b, avx2) && all(saved, ymm)) features |= kAvx2;
  if (all(extended.b, avx2 | avx512) && all(saved, zmm)) features |= kAvx512;
  return features;
}

#elif defined(METAINFO_ARM64)

std::uint32_t detect() {
#if defined(__APPLE__)
  return kArmSha;  // Every arm64 CPU of Apple has them, and macOS 11 offers no query.
#elif defined(__linux__)
  constexpr unsigned long both = HWCAP_SHA1 | HWCAP_SHA2;
  if ((::getauxval(AT_HWCAP) & both) == both) return kArmSha;
  return 0;
#elif defined(_WIN32)
  if (::IsProcessorFeaturePresent(PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE)) return kArmSha;
  return 0;
#else
  return 0;
#endif
}

#else

std::uint32_t detect() { return 0; }

#endif

}  // namespace

std::uint32_t cpu_features() {
  static const std::uint32_t features = detect();
  return features;
}

}  // namespace metainfo
