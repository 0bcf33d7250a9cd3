#pragma once

#include <napi.h>

#include <memory>

#include "binding/pending.h"
#include "core/job.h"

namespace metainfo {

// `new HashJob(plan)` starts hashing. `done` settles on the JavaScript thread, in one call from native code.
class HashJob : public Napi::ObjectWrap<HashJob> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit HashJob(const Napi::CallbackInfo& info);

 private:
  Napi::Value progress(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<Pending<Job>> pending_;
};

// For Pending.
void settle(Napi::Env env, Job& job, Napi::Promise::Deferred& deferred);

}  // namespace metainfo
