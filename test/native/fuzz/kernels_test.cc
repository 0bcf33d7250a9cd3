// Replays the corpus of fuzz/kernels.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_kernels
#include "../../../fuzz/kernels.cc"

TEST_CASE("fuzz: replays the corpus of kernels") { replay("kernels", fuzz_kernels); }
