#pragma once

#include <napi.h>

namespace metainfo {

// Binding.limits of src/hash/addon.ts.
Napi::Value limits(const Napi::CallbackInfo& info);

}  // namespace metainfo
