// Entry point of the optional addon that makes torrents with libtorrent.
#include <napi.h>

#include <libtorrent/version.hpp>
#include <memory>
#include <string>
#include <utility>

#include "binding/async_job.h"
#include "binding/environment.h"
#include "libtorrent/create_task.h"

namespace metainfo {

// Called by AsyncJob.
void settle(Napi::Env env, CreateTask& task, Napi::Promise::Deferred& deferred) {
  CreateTask::Outcome& outcome = task.outcome();
  if (outcome.end == CreateTask::End::made) {
    deferred.Resolve(Napi::Buffer<char>::Copy(env, outcome.torrent.data(), outcome.torrent.size()));
    return;
  }
  const bool cancelled = outcome.end == CreateTask::End::cancelled;
  Napi::Object error = Napi::Error::New(env, outcome.message).Value();
  error.Set("code", cancelled ? "aborted" : "failed");
  error.Set("errno", static_cast<double>(outcome.error));
  deferred.Reject(error);
}

namespace {

std::string text(const Napi::Value& value) {
  if (!value.IsBuffer()) return value.As<Napi::String>().Utf8Value();
  const auto bytes = value.As<Napi::Buffer<char>>();
  return {bytes.Data(), bytes.Length()};
}

// src/create/libtorrent.ts has validated every value.
CreateRequest request_of(const Napi::Object& from) {
  CreateRequest request;
  const auto files = from.Get("files").As<Napi::Array>();
  request.files.reserve(files.Length());
  for (std::uint32_t i = 0; i < files.Length(); ++i) {
    const Napi::HandleScope scope(from.Env());
    const auto file = files.Get(i).As<Napi::Object>();
    request.files.push_back({text(file.Get("path")), text(file.Get("diskPath")),
                             file.Get("length").As<Napi::Number>().Int64Value(),
                             file.Get("executable").ToBoolean(), file.Get("hidden").ToBoolean()});
  }
  request.v1 = from.Get("v1").ToBoolean();
  request.v2 = from.Get("v2").ToBoolean();
  request.piece_length = from.Get("pieceLength").As<Napi::Number>().Int32Value();
  request.info = text(from.Get("info"));
  request.outer = text(from.Get("outer"));
  return request;
}

class CreateJob final : public Napi::ObjectWrap<CreateJob> {
 public:
  explicit CreateJob(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<CreateJob>(info),
        async_(std::make_shared<AsyncJob<CreateTask>>(info.Env(), request_of(info[0].As<Napi::Object>()))) {
    info.This().As<Napi::Object>().Set("done", async_->promise());
    AsyncJob<CreateTask>::start(info.Env(), async_);
  }

  static Napi::Function define(Napi::Env env) {
    return DefineClass(
        env, "CreateJob",
        {InstanceMethod<&CreateJob::pieces>("pieces"), InstanceMethod<&CreateJob::cancel>("cancel")});
  }

 private:
  Napi::Value pieces(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), async_->job().pieces_done());
  }
  Napi::Value cancel(const Napi::CallbackInfo& info) {
    async_->cancel();
    return info.Env().Undefined();
  }

  const std::shared_ptr<AsyncJob<CreateTask>> async_;
};

}  // namespace
}  // namespace metainfo

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  metainfo::Environment::define(env, [] {});
  exports.Set("version", lt::version());
  exports.Set("CreateJob", metainfo::CreateJob::define(env));
  return exports;
}

NODE_API_MODULE(metainfo_libtorrent, init)
