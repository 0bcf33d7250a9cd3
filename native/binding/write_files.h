// writeFiles(): writes a group of new files.
#pragma once

#include <napi.h>

namespace metainfo {

// Addon.writeFiles in src/hash/addon.ts.
Napi::Value write_files(const Napi::CallbackInfo& info);

}  // namespace metainfo
