#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_merkle
#include "../../../fuzz/merkle.cc"

TEST_CASE("fuzz: what was kept for merkle") { replay("merkle", fuzz_merkle); }
