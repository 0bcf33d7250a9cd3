#define LLVMFuzzerTestOneInput fuzz_merkle
#include "../../../fuzz/merkle.cc"
// What it includes comes first.
#include "replay.h"

TEST("fuzz: what was kept for merkle") { replay("merkle", fuzz_merkle); }
