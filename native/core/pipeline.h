#pragma once

#include "core/gauge.h"
#include "core/plan.h"
#include "kernels/kernel.h"

namespace metainfo {

// Hashes a plan with up to plan.threads threads, this one among them, and joins the others. Throws Failure.
// Buffers take plan.threads * plan.read_size bytes; leaves are reduced to pieces as they come.
Digests hash_plan(const Plan& plan, const Kernel& kernel, Gauge& gauge);

}  // namespace metainfo
