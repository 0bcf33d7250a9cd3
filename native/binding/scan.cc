// Translates between JavaScript and a scan job.
#include "binding/scan.h"

#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "binding/columns.h"
#include "binding/errors.h"
#include "binding/typed_arrays.h"

namespace metainfo {
namespace {

// src/disk/listing.ts gives all values; a wrong type throws Napi::Error.
ScanJob::Request to_request(const Napi::Object& value) {
  ScanJob::Request request;
  request.root = value.Get("root").As<Napi::String>().Utf8Value();
  request.recursive = value.Get("isRecursive").As<Napi::Boolean>().Value();
  request.readable = value.Get("readable").As<Napi::Boolean>().Value();
  const auto disks = value.Get("disks").As<Napi::Array>();
  const auto paths = value.Get("paths").As<Napi::Array>();
  const std::uint32_t count = disks.Length();
  request.starts.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(value.Env());
    request.starts.push_back(
        {disks.Get(i).As<Napi::String>().Utf8Value(), paths.Get(i).As<Napi::String>().Utf8Value()});
  }
  return request;
}

}  // namespace

Napi::Function Scan::define(Napi::Env env) {
  return DefineClass(env, "Scan", {InstanceMethod<&Scan::cancel>("cancel")});
}

Scan::Scan(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  try {
    async_ = std::make_shared<AsyncJob<ScanJob>>(env, to_request(info[0].As<Napi::Object>()));
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  info.This().As<Napi::Object>().Set("done", async_->promise());
  AsyncJob<ScanJob>::start(env, async_);
}

void settle(Napi::Env env, ScanJob& job, Napi::Promise::Deferred& deferred) {
  ScanJob::Outcome outcome = std::move(job.outcome());
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
    deferred.Reject(to_error(env, *failure).Value());
    return;
  }
  auto& found = std::get<ScanJob::Found>(outcome);
  Napi::Object result = Napi::Object::New(env);
  result.Set("files", to_columns(env, std::move(found.files)));
  result.Set("others", to_columns(env, std::move(found.others)));
  result.Set("errors", to_typed_array(env, std::move(found.errors)));
  result.Set("modes", to_typed_array(env, std::move(found.modes)));
  deferred.Resolve(result);
}

Napi::Value Scan::cancel(const Napi::CallbackInfo& info) {
  async_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo
