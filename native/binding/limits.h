#pragma once

#include <napi.h>

namespace metainfo {

// Binding.limits of src/digest/binding.ts.
Napi::Value limits(const Napi::CallbackInfo& info);

}  // namespace metainfo
