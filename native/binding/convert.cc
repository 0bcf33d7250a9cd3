#include "binding/convert.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace metainfo {
namespace {

template <typename Value>
Value get(const Napi::Object& object, const char* key, bool (Napi::Value::*is)() const) {
  const Napi::Value value = object.Get(key);
  if (!(value.*is)())
    throw Napi::TypeError::New(object.Env(), std::string("wrong type of plan field ") + key);
  return value.As<Value>();
}

double number(const Napi::Object& object, const char* key) {
  return get<Napi::Number>(object, key, &Napi::Value::IsNumber).DoubleValue();
}

std::uint64_t size(const Napi::Object& object, const char* key) {
  const double value = number(object, key);
  // Also refuses NaN. JavaScript's safe integers end at 2^53.
  if (!(value >= 0 && value <= 9007199254740991.0))
    throw Napi::RangeError::New(object.Env(), std::string("plan field out of range: ") + key);
  return static_cast<std::uint64_t>(value);
}

std::string text(const Napi::Object& object, const char* key) {
  return get<Napi::String>(object, key, &Napi::Value::IsString).Utf8Value();
}

PlanFile to_file(const Napi::Object& value) {
  PlanFile file;
  const Napi::Value path = value.Get("path");
  if (path.IsBuffer()) {
    const auto bytes = path.As<Napi::Buffer<char>>();
    file.path.assign(bytes.Data(), bytes.Length());
  } else if (path.IsNull()) {
    file.pad = true;
  } else {
    throw Napi::TypeError::New(value.Env(), "wrong type of plan field path");
  }
  file.offset = size(value, "offset");
  file.length = size(value, "length");
  file.size = size(value, "size");
  file.mtime_ms = number(value, "mtimeMs");
  return file;
}

Napi::Buffer<std::uint8_t> to_buffer(Napi::Env env, std::vector<std::uint8_t> bytes) {
  // An external buffer of no bytes would be a detached one.
  if (bytes.empty()) return Napi::Buffer<std::uint8_t>::New(env, 0);
  auto owned = std::make_unique<std::vector<std::uint8_t>>(std::move(bytes));
  std::uint8_t* data = owned->data();
  const std::size_t length = owned->size();
  return Napi::Buffer<std::uint8_t>::NewOrCopy(
      env, data, length,
      [](Napi::BasicEnv, std::uint8_t*, std::vector<std::uint8_t>* vector) { delete vector; },
      owned.release());
}

}  // namespace

Plan to_plan(const Napi::Object& value) {
  const Napi::Env env = value.Env();
  Plan plan;
  const std::string kind = text(value, "kind");
  plan.kind = kind == "v1" ? Kind::v1 : kind == "v2" ? Kind::v2 : Kind::hybrid;
  plan.piece_length = size(value, "pieceLength");
  plan.read_size = static_cast<std::size_t>(size(value, "readSize"));
  plan.mark_missing = text(value, "onMissing") == "mark";
  if (plan.piece_length == 0 || plan.read_size == 0)
    throw Napi::RangeError::New(env, "pieceLength and readSize must be above 0");
  plan.memory_limit = static_cast<std::size_t>(size(value, "memoryLimit"));
  // Every worker has one buffer of a read at least.
  plan.threads = static_cast<unsigned>(
      std::min<std::uint64_t>(size(value, "threads"), plan.memory_limit / plan.read_size));
  if (plan.threads == 0)
    throw Napi::RangeError::New(env, "memoryLimit must be at least readSize, threads above 0");

  const auto files = get<Napi::Array>(value, "files", &Napi::Value::IsArray);
  const std::uint32_t count = files.Length();
  plan.files.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(env);
    plan.files.push_back(to_file(files.Get(i).As<Napi::Object>()));
  }
  return plan;
}

Napi::Object to_digests(Napi::Env env, Kind kind, Digests digests) {
  Napi::Object result = Napi::Object::New(env);
  if (kind != Kind::v2) result.Set("v1", to_buffer(env, std::move(digests.v1)));
  if (kind != Kind::v1) {
    Napi::Object v2 = Napi::Object::New(env);
    v2.Set("roots", to_buffer(env, std::move(digests.roots)));
    v2.Set("layers", to_buffer(env, std::move(digests.layers)));
    result.Set("v2", v2);
  }
  Napi::Array missing = Napi::Array::New(env, digests.missing.size());
  for (std::uint32_t i = 0; i < digests.missing.size(); ++i) missing.Set(i, digests.missing[i]);
  result.Set("missing", missing);
  return result;
}

}  // namespace metainfo
