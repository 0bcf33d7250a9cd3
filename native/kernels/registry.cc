// The one ordered table: best row first. A new kernel is a new row.
#include <cstring>

#include "kernels/cpu.h"
#include "kernels/rows.h"

namespace metainfo {
namespace {

#define ALL(row) row##_sha1_many, row##_sha256_many, row##_sha1_zeros, row##_sha256_nodes
#define SHA1(row) row##_sha1_many, nullptr, row##_sha1_zeros, nullptr

// `least` is where a call of the row takes less time than the rows below it for as many messages.
constexpr Kernel kRows[] = {
#ifdef METAINFO_X86
    {"avx512-x16", kAvx512, 16, 12, ALL(avx512_x16)},
    // Its SHA-256 is no faster than two calls of sha-ni-x4.
    {"avx512-x8", kAvx512, 8, 6, SHA1(avx512_x8)},
    {"sha-ni-x4", kShaNi, 4, 3, ALL(sha_ni_x4)},
    {"sha-ni-x2", kShaNi, 2, 2, ALL(sha_ni_x2)},
    {"sha-ni-x1", kShaNi, 1, 1, ALL(sha_ni_x1)},
    {"avx2-x8", kAvx2, 8, 3, ALL(avx2_x8)},
#endif
#ifdef METAINFO_ARM64
    {"sha-ce-x4", kArmSha, 4, 3, ALL(sha_ce_x4)},
    {"sha-ce-x2", kArmSha, 2, 2, ALL(sha_ce_x2)},
#endif
    {"openssl", 0, 1, 1, ALL(openssl)},
};

#undef ALL
#undef SHA1

}  // namespace

const Kernel* runnable_kernel(std::size_t row) {
  for (const Kernel& kernel : kRows) {
    if ((kernel.needs & cpu_features()) != kernel.needs) continue;
    if (row-- == 0) return &kernel;
  }
  return nullptr;
}

bool select_kernels(const char* forced, Kernels& kernels) {
  kernels.count = 0;
  bool found = forced == nullptr || *forced == '\0';
  for (std::size_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row) {
    found = found || std::strcmp(kernel->name, forced) == 0;
    if (found) kernels.rows[kernels.count++] = kernel;
  }
  return found;
}

}  // namespace metainfo
