// How fast a kernel is here and now.
#pragma once

#include "kernels/kernel.h"

namespace metainfo {

// Bytes a second of one thread, nodes as the 64 bytes that they take; 0 for what the row leaves out.
struct KernelSpeed {
  double sha1;
  double sha1_zeros;
  double sha256;
  double sha256_nodes;
};

// Takes about so many seconds for each function, on messages of 16 KiB that stay in the cache.
KernelSpeed measure_kernel(const Kernel& kernel, double seconds);

}  // namespace metainfo
