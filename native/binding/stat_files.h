// statFiles(): the sizes and times of many files, read on native threads.
#pragma once

#include <napi.h>

namespace metainfo {

// Binding.statFiles in src/hash/addon.ts.
Napi::Value stat_files(const Napi::CallbackInfo& info);

}  // namespace metainfo
