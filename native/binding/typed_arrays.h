// Typed arrays from and to JavaScript.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/table/file_columns.h"

namespace metainfo {

template <typename T>
constexpr napi_typedarray_type kArrayType = napi_uint8_array;
template <>
inline constexpr napi_typedarray_type kArrayType<std::uint32_t> = napi_uint32_array;
template <>
inline constexpr napi_typedarray_type kArrayType<std::int32_t> = napi_int32_array;
template <>
inline constexpr napi_typedarray_type kArrayType<double> = napi_float64_array;

// Whether a value is a typed array with elements of type T.
template <typename T>
bool is_array(const Napi::Value& value) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == kArrayType<T>;
}

// A value that is a typed array with elements of type T. Throws a TypeError with its name for anything else.
template <typename T>
Napi::TypedArrayOf<T> to_array(const Napi::Value& value, const char* name) {
  if (!is_array<T>(value))
    throw Napi::TypeError::New(value.Env(), std::string("field has the wrong type: ") + name);
  return value.As<Napi::TypedArrayOf<T>>();
}

template <typename T>
Napi::TypedArrayOf<T> array_field(const Napi::Object& object, const char* key) {
  return to_array<T>(object.Get(key), key);
}

// Whether a number from JavaScript is a number of bytes, up to Number.MAX_SAFE_INTEGER. NaN is none.
inline bool is_size(double number) { return number >= 0 && number <= 9007199254740991.0; }

// Remembers the owner of memory that JavaScript gets as an external buffer, until take_back().
void give(const void* data, std::shared_ptr<const void> owner);
void take_back(const void* data);
// The owner of memory that starts at `data`, if JavaScript has it by give(); else null.
std::shared_ptr<const void> owner_of(const void* data);

// The elements of an array as a column, which stays readable on any thread. When a worker thread of Node
// ends, Node frees the external buffers before our cleanup hook can stop the jobs that read them; and
// JavaScript may transfer its buffers at any time. So a column shares the memory of a buffer that this addon
// made, and is a copy of any other. Throws std::bad_alloc.
template <typename T>
Column<T> to_column(const Napi::TypedArrayOf<T>& array) {
  const T* const data = array.Data();
  if (const auto owner = owner_of(reinterpret_cast<const std::uint8_t*>(data) - array.ByteOffset()))
    return Column<T>(owner, data);
  const auto copy = std::make_shared<const std::vector<T>>(data, data + array.ElementLength());
  return Column<T>(copy, copy->data());
}

// A buffer of the `size` bytes at `data`, which `owner` holds. They are moved, or copied if the runtime
// allows no external buffers.
template <typename Owner>
Napi::Buffer<std::uint8_t> to_buffer(Napi::Env env, Owner owner, std::uint8_t* data, std::size_t size) {
  // An external buffer without bytes would count as detached.
  if (size == 0) return Napi::Buffer<std::uint8_t>::New(env, 0);
  give(data, std::make_shared<Owner>(std::move(owner)));
  try {
    return Napi::Buffer<std::uint8_t>::NewOrCopy(
        env, data, size, [](Napi::BasicEnv, std::uint8_t* given) { take_back(given); });
  } catch (const Napi::Error&) {
    take_back(data);
    throw;
  }
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
