// The JavaScript class HashJob: starts hashing a request, reports progress and cancels. hashNow(): hashes a
// request at once. hashBytes(): hashes bytes at once.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/async_job.h"
#include "core/hash/job.h"

namespace metainfo {

// `new HashJob(request)` starts hashing. The promise `done` settles when the job has ended.
class HashJob : public Napi::ObjectWrap<HashJob> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit HashJob(const Napi::CallbackInfo& info);

 private:
  Napi::Value progress(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<AsyncJob<Job>> async_;
};

// Binding.hashNow in src/hash/addon.ts.
Napi::Value hash_now(const Napi::CallbackInfo& info);

// Binding.hashBytes in src/hash/addon.ts.
Napi::Value hash_bytes(const Napi::CallbackInfo& info);

// Called by AsyncJob.
void settle(Napi::Env env, Job& job, Napi::Promise::Deferred& deferred);

}  // namespace metainfo
