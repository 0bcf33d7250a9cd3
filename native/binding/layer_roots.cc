#include "binding/layer_roots.h"

#include <algorithm>
#include <numeric>

#include "binding/hash_job.h"
#include "core/layers.h"
#include "core/merkle.h"

namespace metainfo {

Napi::Value layer_roots(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsTypedArray() || !info[1].IsTypedArray() || !info[2].IsNumber())
    throw Napi::TypeError::New(env, "expected layers, counts and a height");
  const auto hashes = info[0].As<Napi::Uint8Array>();
  const auto counts = info[1].As<Napi::Uint32Array>();
  const unsigned height = info[2].As<Napi::Number>().Uint32Value();
  const std::uint32_t* first = counts.Data();
  const std::uint32_t* last = first + counts.ElementLength();
  // These are what keeps the reads within the buffer.
  const bool whole = std::accumulate(first, last, std::uint64_t{0}) * 32 == hashes.ByteLength();
  if (!whole || std::find(first, last, 0U) != last || height >= kMaxTreeHeight / 2)
    throw Napi::RangeError::New(env, "the counts do not match the layers");
  auto roots = Napi::Buffer<std::uint8_t>::New(env, counts.ElementLength() * 32);
  hash_layers({hashes.Data(), first, counts.ElementLength(), height, roots.Data()}, active_kernel(env));
  return roots;
}

}  // namespace metainfo
