#pragma once

#include <napi.h>

namespace metainfo {

// Binding.layerRoots of src/hash/addon.ts.
Napi::Value layer_roots(const Napi::CallbackInfo& info);

}  // namespace metainfo
