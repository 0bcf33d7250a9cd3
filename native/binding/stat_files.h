#pragma once

#include <napi.h>

namespace metainfo {

// Binding.statFiles of src/hash/addon.ts.
Napi::Value stat_files(const Napi::CallbackInfo& info);

}  // namespace metainfo
