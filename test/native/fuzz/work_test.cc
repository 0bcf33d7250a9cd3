#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_work
#include "../../../fuzz/work.cc"

TEST("fuzz: what was kept for work") { replay("work", fuzz_work); }
