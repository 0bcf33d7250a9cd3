// Replays the corpus of fuzz/plans.cc.
#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_plans
#include "../../../fuzz/plans.cc"

TEST_CASE("fuzz: replays the corpus of plans") { replay("plans", fuzz_plans); }
