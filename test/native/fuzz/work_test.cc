#define LLVMFuzzerTestOneInput fuzz_work
#include "../../../fuzz/work.cc"
// What it includes comes first.
#include "replay.h"

TEST("fuzz: what was kept for work") { replay("work", fuzz_work); }
