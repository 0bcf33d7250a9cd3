// The functions that work on the columns of a file table.
#pragma once

#include <napi.h>

namespace metainfo {

// Adds `sortFiles`, `matchPaths`, `measureFiles`, `encodeFileList`, `encodeFileTree` and `decodeFiles` of
// Addon in src/hash/addon.ts. Each starts a task on a native thread and returns a promise, but for
// `decodeFiles`.
void define_file_table(Napi::Object exports);

}  // namespace metainfo
