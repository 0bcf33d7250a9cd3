// The one ordered table: best row first. A new kernel is a new row.
#include <cstring>

#include "kernels/kernel.h"

namespace metainfo {
namespace {

constexpr Kernel kRows[] = {
    {"openssl", 0, 1, openssl_sha1_many, openssl_sha256_many},
};

}  // namespace

const Kernel* runnable_kernel(std::size_t row) {
  return row < sizeof kRows / sizeof kRows[0] ? &kRows[row] : nullptr;
}

const Kernel* select_kernel(const char* forced) {
  if (forced == nullptr || *forced == '\0') return runnable_kernel(0);
  for (std::size_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row) {
    if (std::strcmp(kernel->name, forced) == 0) return kernel;
  }
  return nullptr;
}

}  // namespace metainfo
