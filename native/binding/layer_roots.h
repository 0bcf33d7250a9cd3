// layerRoots(): Merkle roots of the piece layers of a torrent.
#pragma once

#include <napi.h>

namespace metainfo {

// Binding.layerRoots in src/hash/addon.ts.
Napi::Value layer_roots(const Napi::CallbackInfo& info);

}  // namespace metainfo
