#include "replay.h"

#define LLVMFuzzerTestOneInput fuzz_plans
#include "../../../fuzz/plans.cc"

TEST_CASE("fuzz: what was kept for plans") { replay("plans", fuzz_plans); }
