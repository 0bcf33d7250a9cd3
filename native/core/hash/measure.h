// Measures the speed of a kernel on this machine.
#pragma once

#include "kernels/kernel.h"

namespace metainfo {

// Bytes per second of one thread; a node counts as the 64 bytes that it hashes. 0: the kernel has no such
// function.
struct KernelSpeed {
  double sha1;
  double sha1_zeros;
  double sha256;
  double sha256_nodes;
};

// Spends about `seconds` on each function of the kernel, with messages of 16 KiB that stay in the CPU cache.
KernelSpeed measure_kernel(const Kernel& kernel, double seconds);

// Lets SHA-256 start with the fastest kernel of this machine. The first call in the process races the best
// kernels of two instruction sets for about 2 ms; calls at the same time wait for it. `kernels` are all
// runnable kernels. Throws std::bad_alloc.
void race_sha256(Kernels& kernels);

}  // namespace metainfo
