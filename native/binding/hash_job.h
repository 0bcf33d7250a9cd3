#pragma once

#include <napi.h>

#include <memory>

#include "kernels/kernel.h"

namespace metainfo {

// The row that METAINFO_KERNEL names, or the best one. Throws Napi::Error when this CPU cannot run it.
const Kernel& active_kernel(Napi::Env env);

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

// { kernels, active }: the rows that this CPU can run, and the one that METAINFO_KERNEL or the table chose.
void define_kernels(Napi::Env env, Napi::Object exports);

}  // namespace metainfo
