#pragma once

#include <napi.h>

#include "core/plan.h"

namespace metainfo {

// A HashPlan of src/hash/plan.ts, copied whole but for content in memory: that is viewed, and what holds it
// is added to `memory`. Its values were checked there; a wrong type throws Napi::Error.
Plan to_plan(const Napi::Object& value, Napi::Array& memory);

// Digests of src/hash/plan.ts. Moves the bytes where the runtime can own outside memory.
Napi::Object to_digests(Napi::Env env, Version version, Digests digests);

}  // namespace metainfo
