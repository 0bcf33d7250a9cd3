// The table of all kernels, best first. A new kernel is a new entry here.
#include <atomic>
#include <cstring>

#include "kernels/cpu.h"
#include "kernels/kernel_functions.h"

namespace metainfo {
namespace {

#define ALL(prefix) prefix##_sha1_many, prefix##_sha256_many, prefix##_sha1_zeros, prefix##_sha256_nodes
#define SHA1(prefix) prefix##_sha1_many, nullptr, prefix##_sha1_zeros, nullptr

// The second number (min_messages) was measured: from there on, one call takes less time than the kernels
// further down need for as many messages. On a CPU without SHA-NI, wide kernels pay for fewer messages.
constexpr Kernel kKernels[] = {
#ifdef METAINFO_X86
    {"avx512-x16", kAvx512 | kShaNi, 0, 16, 12, ALL(avx512_x16)},
    // Its SHA-256 is no faster than two calls of sha-ni-x4.
    {"avx512-x8", kAvx512 | kShaNi, 0, 8, 6, SHA1(avx512_x8)},
    {"avx512-x16", kAvx512, kShaNi, 16, 9, ALL(avx512_x16)},
    {"avx512-x8", kAvx512, kShaNi, 8, 2, ALL(avx512_x8)},
    {"sha-ni-x4", kShaNi, 0, 4, 3, ALL(sha_ni_x4)},
    {"sha-ni-x2", kShaNi, 0, 2, 2, ALL(sha_ni_x2)},
    {"sha-ni-x1", kShaNi, 0, 1, 1, ALL(sha_ni_x1)},
    {"avx2-x8", kAvx2, 0, 8, 3, ALL(avx2_x8)},
#endif
#ifdef METAINFO_ARM64
    {"sha-ce-x4", kArmSha, 0, 4, 3, ALL(sha_ce_x4)},
    {"sha-ce-x2", kArmSha, 0, 2, 2, ALL(sha_ce_x2)},
#endif
    {"openssl", 0, 0, 1, 1, ALL(openssl)},
};

#undef ALL
#undef SHA1

constexpr std::size_t kNoRace = SIZE_MAX;
std::atomic<std::size_t> first_sha256{kNoRace};

}  // namespace

const Kernel* runnable_kernel(std::size_t index) {
  for (const Kernel& kernel : kKernels) {
    if ((kernel.needs & cpu_features()) != kernel.needs || (kernel.lacks & cpu_features()) != 0) continue;
    if (index-- == 0) return &kernel;
  }
  return nullptr;
}

bool select_kernels(const char* forced, Kernels& kernels) {
  kernels.count = 0;
  bool found = forced == nullptr || *forced == '\0';
  const std::size_t winner = found ? first_sha256.load(std::memory_order_relaxed) : 0;
  kernels.race_sha256 = winner == kNoRace;
  kernels.first_sha256 = kernels.race_sha256 ? 0 : winner;
  for (std::size_t index = 0; const Kernel* kernel = runnable_kernel(index); ++index) {
    found = found || std::strcmp(kernel->name, forced) == 0;
    if (found) kernels.list[kernels.count++] = kernel;
  }
  return found;
}

void set_first_sha256(std::size_t index) { first_sha256.store(index, std::memory_order_relaxed); }

}  // namespace metainfo
