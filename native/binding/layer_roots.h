#pragma once

#include <napi.h>

namespace metainfo {

// Binding.layerRoots of src/digest/binding.ts.
Napi::Value layer_roots(const Napi::CallbackInfo& info);

}  // namespace metainfo
