// limits(): reads and sets the process-wide budget.
#pragma once

#include <napi.h>

namespace metainfo {

// Binding.limits in src/hash/addon.ts.
Napi::Value limits(const Napi::CallbackInfo& info);

}  // namespace metainfo
