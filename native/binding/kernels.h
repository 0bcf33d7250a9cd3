#pragma once

#include <napi.h>

#include "kernels/kernel.h"

namespace metainfo {

// The rows from the one that METAINFO_KERNEL names, or from the best one. Throws an error whose code is
// "kernel" when this CPU cannot run it.
Kernels active_kernels(Napi::Env env);

// Binding.kernels, active and measureKernel of src/hash/addon.ts.
void define_kernels(Napi::Env env, Napi::Object exports);

}  // namespace metainfo
