// Translates between JavaScript and the job of a short file.
#include "binding/short_file.h"

#include <new>
#include <utility>

#include "binding/convert.h"
#include "binding/errors.h"
#include "binding/kernels.h"

namespace metainfo {

Napi::Function ShortFileBinding::define(Napi::Env env) {
  return DefineClass(env, "ShortFile", {InstanceMethod<&ShortFileBinding::cancel>("cancel")});
}

ShortFileBinding::ShortFileBinding(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  try {
    // src/hash/native.ts gives all values; a wrong type throws Napi::Error.
    ShortFileJob::Request request{
        {info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value()},
        info[2].As<Napi::Number>().Uint32Value(),
        0,
        {}};
    if (info[3].IsString()) {
      request.version = to_version(info[3].As<Napi::String>());
      request.piece_length = static_cast<std::uint64_t>(info[4].As<Napi::Number>().Int64Value());
    }
    async_ = std::make_shared<AsyncJob<ShortFileJob>>(env, std::move(request), active_kernels(env));
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  info.This().As<Napi::Object>().Set("done", async_->promise());
  AsyncJob<ShortFileJob>::start(env, async_);
}

void settle(Napi::Env env, ShortFileJob& job, Napi::Promise::Deferred& deferred) {
  const auto& outcome = job.outcome();
  if (!outcome) {
    deferred.Resolve(env.Null());
    return;
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("length", outcome->status.size);
  result.Set("mtimeMs", outcome->status.mtime_ms);
  result.Set("ctimeMs", outcome->status.ctime_ms);
  const auto& bytes = outcome->bytes.empty() ? outcome->hashes : outcome->bytes;
  result.Set("bytes", Napi::Buffer<std::uint8_t>::Copy(env, bytes.data(), bytes.size()));
  deferred.Resolve(result);
}

Napi::Value ShortFileBinding::cancel(const Napi::CallbackInfo& info) {
  async_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo
