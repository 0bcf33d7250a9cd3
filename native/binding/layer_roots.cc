// Checks that all layers are inside the given bytes, then hashes them.
#include "binding/layer_roots.h"

#include "binding/kernels.h"
#include "binding/typed_arrays.h"
#include "core/hash/layers.h"
#include "core/hash/merkle.h"

namespace metainfo {

Napi::Value layer_roots(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!is_array<std::uint8_t>(info[0]) || !is_array<double>(info[1]) || !is_array<std::uint32_t>(info[2]) ||
      !info[3].IsNumber())
    throw Napi::TypeError::New(env, "layerRoots takes bytes, starts, counts and a number");
  const auto bytes = info[0].As<Napi::Uint8Array>();
  const auto starts = info[1].As<Napi::Float64Array>();
  const auto counts = info[2].As<Napi::Uint32Array>();
  const unsigned height = info[3].As<Napi::Number>().Uint32Value();
  const std::size_t layers = counts.ElementLength();
  // These checks keep all reads inside the buffer. A start that is NaN compares false.
  const auto size = static_cast<double>(bytes.ByteLength());
  bool within = starts.ElementLength() == layers && height < 64;
  for (std::size_t i = 0; within && i < layers; ++i)
    within = counts[i] != 0 && starts[i] >= 0 && starts[i] + counts[i] * 32.0 <= size;
  if (!within) throw Napi::RangeError::New(env, "a layer is not inside the given bytes");
  auto roots = Napi::Buffer<std::uint8_t>::New(env, layers * 32);
  hash_layers({bytes.Data(), starts.Data(), counts.Data(), layers, height, roots.Data()},
              active_kernels(env));
  return roots;
}

}  // namespace metainfo
