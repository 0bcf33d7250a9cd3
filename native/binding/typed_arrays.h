// Typed arrays from and to JavaScript.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metainfo {

template <typename T>
constexpr napi_typedarray_type kArrayType = napi_uint8_array;
template <>
inline constexpr napi_typedarray_type kArrayType<std::uint32_t> = napi_uint32_array;
template <>
inline constexpr napi_typedarray_type kArrayType<double> = napi_float64_array;

// A field that is a typed array with elements of type T. Throws a TypeError for anything else.
template <typename T>
Napi::TypedArrayOf<T> array_field(const Napi::Object& object, const char* key) {
  const Napi::Value value = object.Get(key);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != kArrayType<T>)
    throw Napi::TypeError::New(object.Env(), std::string("field has the wrong type: ") + key);
  return value.As<Napi::TypedArrayOf<T>>();
}

// A buffer of the `size` bytes at `data`, which `owner` holds. They are moved, or copied if the runtime
// allows no external buffers.
template <typename Owner>
Napi::Buffer<std::uint8_t> to_buffer(Napi::Env env, Owner owner, std::uint8_t* data, std::size_t size) {
  // An external buffer without bytes would count as detached.
  if (size == 0) return Napi::Buffer<std::uint8_t>::New(env, 0);
  auto kept = std::make_unique<Owner>(std::move(owner));
  return Napi::Buffer<std::uint8_t>::NewOrCopy(
      env, data, size, [](Napi::BasicEnv, std::uint8_t*, Owner* own) { delete own; }, kept.release());
}

// A buffer of the memory of a vector.
template <typename T>
Napi::Buffer<std::uint8_t> to_buffer(Napi::Env env, std::vector<T> elements) {
  auto* const data = reinterpret_cast<std::uint8_t*>(elements.data());
  const std::size_t size = elements.size() * sizeof(T);
  return to_buffer(env, std::move(elements), data, size);
}

template <typename T>
Napi::TypedArrayOf<T> to_typed_array(Napi::Env env, std::vector<T> elements) {
  const std::size_t count = elements.size();
  const auto buffer = to_buffer(env, std::move(elements));
  return Napi::TypedArrayOf<T>::New(env, count, buffer.ArrayBuffer(), buffer.ByteOffset(), kArrayType<T>);
}

}  // namespace metainfo
