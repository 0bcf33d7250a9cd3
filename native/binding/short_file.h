// The JavaScript class ShortFile: starts a job that hashes one short file, and cancels it.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/async_job.h"
#include "core/hash/short_file_job.h"

namespace metainfo {

// `new ShortFile(root, path, maxBytes, version, pieceLength)` starts reading, and hashing if there is a
// version. The promise `done` settles when the job has ended.
class ShortFileBinding : public Napi::ObjectWrap<ShortFileBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit ShortFileBinding(const Napi::CallbackInfo& info);

 private:
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<AsyncJob<ShortFileJob>> async_;
};

// Called by AsyncJob.
void settle(Napi::Env env, ShortFileJob& job, Napi::Promise::Deferred& deferred);

}  // namespace metainfo
