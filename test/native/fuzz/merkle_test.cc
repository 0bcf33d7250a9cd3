// Replays the stored inputs of fuzz/merkle.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_merkle
#include "../../../fuzz/merkle.cc"

TEST_CASE("fuzz: replays the stored inputs of merkle") { replay("merkle", fuzz_merkle); }
