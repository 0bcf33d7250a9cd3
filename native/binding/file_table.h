// The functions that work on the columns of a file table.
#pragma once

#include <napi.h>

namespace metainfo {

// Each starts a task on a native thread and returns a promise: see Addon in src/hash/addon.ts.
Napi::Value sort_files(const Napi::CallbackInfo& info);
Napi::Value measure_files(const Napi::CallbackInfo& info);
Napi::Value encode_file_list(const Napi::CallbackInfo& info);
Napi::Value encode_file_tree(const Napi::CallbackInfo& info);

}  // namespace metainfo
