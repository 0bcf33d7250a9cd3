#pragma once

#include <napi.h>

#include "core/plan.h"

namespace metainfo {

// A JavaScript Error with `code`, and `errno`, `path` (Buffer) and `detail` where there are any. The only
// translation there is; src/hash/native.ts makes a MetainfoError of it.
Napi::Error to_error(Napi::Env env, const Failure& failure);

}  // namespace metainfo
