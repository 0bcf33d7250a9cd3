// Replays the stored inputs of fuzz/kernels.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_kernels
#include "../../../fuzz/kernels.cc"

TEST_CASE("fuzz: replays the stored inputs of kernels") { replay("kernels", fuzz_kernels); }
