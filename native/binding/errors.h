// Makes JavaScript errors from failures.
#pragma once

#include <napi.h>

#include "core/hash/hash_request.h"

namespace metainfo {

// A JavaScript Error with `code`, `errno` (0 if the system gave none) and `path` (a Buffer); its message is
// the detail. src/hash/native.ts turns it into a MetainfoError.
Napi::Error to_error(Napi::Env env, const Failure& failure);

}  // namespace metainfo
