// Selection of kernels by METAINFO_KERNEL, and what JavaScript learns about them.
#pragma once

#include <napi.h>

#include "kernels/kernel.h"

namespace metainfo {

// The kernels to use: from the one that METAINFO_KERNEL names on, or all. Throws an error whose code is
// "kernel" if this CPU cannot run the named kernel.
Kernels active_kernels(Napi::Env env);

// Adds `kernels`, `active`, `raceKernels` and `measureKernel` of Binding in src/hash/addon.ts.
void define_kernels(Napi::Env env, Napi::Object exports);

}  // namespace metainfo
