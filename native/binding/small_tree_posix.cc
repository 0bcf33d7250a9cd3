// Translates between JavaScript and the job of a small tree.
#ifndef _WIN32

#include <cstdint>
#include <new>
#include <utility>

#include "binding/errors.h"
#include "binding/small_tree.h"

namespace metainfo {

Napi::Function SmallTreeBinding::define(Napi::Env env) {
  return DefineClass(env, "SmallTree", {InstanceMethod<&SmallTreeBinding::cancel>("cancel")});
}

SmallTreeBinding::SmallTreeBinding(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  try {
    // src/disk/small-tree.ts gives all values; a wrong type throws Napi::Error.
    SmallTreeJob::Request request{
        {info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value()},
        info[2].As<Napi::Number>().Uint32Value(),
        info[3].As<Napi::Number>().Uint32Value()};
    async_ = std::make_shared<AsyncJob<SmallTreeJob>>(env, std::move(request));
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  info.This().As<Napi::Object>().Set("done", async_->promise());
  AsyncJob<SmallTreeJob>::start(env, async_);
}

// Copies: few bytes are copied in less time than an external buffer takes.
void settle(Napi::Env env, SmallTreeJob& job, Napi::Promise::Deferred& deferred) {
  const auto& tree = job.outcome();
  if (!tree) {
    deferred.Resolve(env.Null());
    return;
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("folder", tree->folder);
  result.Set("paths", tree->paths);
  Napi::Array numbers = Napi::Array::New(env, tree->numbers.size());
  for (std::uint32_t i = 0; i < tree->numbers.size(); ++i) numbers.Set(i, tree->numbers[i]);
  result.Set("numbers", numbers);
  result.Set("bytes", Napi::Buffer<std::uint8_t>::Copy(env, tree->bytes.data(), tree->bytes.size()));
  deferred.Resolve(result);
}

Napi::Value SmallTreeBinding::cancel(const Napi::CallbackInfo& info) {
  async_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo

#endif
