// The JavaScript class Scan: starts a job that lists folders, and cancels it.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/async_job.h"
#include "core/files/scan_job.h"

namespace metainfo {

// `new Scan(request)` starts listing. The promise `done` settles when the job has ended.
class Scan : public Napi::ObjectWrap<Scan> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit Scan(const Napi::CallbackInfo& info);

 private:
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<AsyncJob<ScanJob>> async_;
};

// Called by AsyncJob.
void settle(Napi::Env env, ScanJob& job, Napi::Promise::Deferred& deferred);

}  // namespace metainfo
