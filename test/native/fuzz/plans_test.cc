// Replays the stored inputs of fuzz/plans.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_plans
#include "../../../fuzz/plans.cc"

TEST_CASE("fuzz: replays the stored inputs of plans") { replay("plans", fuzz_plans); }
