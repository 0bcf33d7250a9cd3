// Conversion of requests and digests between JavaScript and C++.
#pragma once

#include <napi.h>

#include "core/hash/hash_request.h"

namespace metainfo {

// Copies a HashRequest (src/hash/addon.ts). Content in memory is not copied: its buffers are added to
// `memory`, which the caller must keep alive. src/hash/hash-request.ts has validated all values; a wrong type
// throws Napi::Error.
HashRequest to_request(const Napi::Object& value, Napi::Array& memory);

// The version that a request names.
Version to_version(const Napi::String& text);

// Makes the Digests of src/hash/addon.ts. The bytes are moved, or copied if the runtime allows no external
// buffers.
Napi::Object to_digests(Napi::Env env, Version version, Digests digests);

}  // namespace metainfo
