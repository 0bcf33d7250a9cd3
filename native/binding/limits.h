// limits(): reads and sets the process-wide budget. usage(): tells how much of it is in use.
#pragma once

#include <napi.h>

namespace metainfo {

// Binding.limits in src/hash/addon.ts.
Napi::Value limits(const Napi::CallbackInfo& info);

// Binding.usage in src/hash/addon.ts.
Napi::Value usage(const Napi::CallbackInfo& info);

}  // namespace metainfo
