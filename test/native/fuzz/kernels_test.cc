#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_kernels
#include "../../../fuzz/kernels.cc"

TEST_CASE("fuzz: what was kept for kernels") { replay("kernels", fuzz_kernels); }
