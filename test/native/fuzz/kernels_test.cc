#define LLVMFuzzerTestOneInput fuzz_kernels
#include "../../../fuzz/kernels.cc"
// What it includes comes first.
#include "replay.h"

TEST("fuzz: what was kept for kernels") { replay("kernels", fuzz_kernels); }
