#pragma once

#include <napi.h>

#include <memory>

namespace metainfo {

class PendingJob;

// `new HashJob(plan)` starts hashing. `done` settles on the JavaScript thread, in one call from native code.
class HashJob : public Napi::ObjectWrap<HashJob> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit HashJob(const Napi::CallbackInfo& info);

 private:
  Napi::Value progress(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<PendingJob> pending_;
};

}  // namespace metainfo
