// Replays the stored inputs of fuzz/plans.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_requests
#include "../../../fuzz/plans.cc"

TEST_CASE("fuzz: replays the stored inputs of requests") { replay("plans", fuzz_requests); }
