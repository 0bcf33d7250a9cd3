#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_kernels
#include "../../../fuzz/kernels.cc"

TEST("fuzz: what was kept for kernels") { replay("kernels", fuzz_kernels); }
