#pragma once

#include <napi.h>

namespace metainfo {

// Binding.statFiles of src/digest/binding.ts.
Napi::Value stat_files(const Napi::CallbackInfo& info);

}  // namespace metainfo
