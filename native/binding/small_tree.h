// The JavaScript class SmallTree: starts a job that reads a short file or a small folder, and cancels it.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/async_job.h"
#include "core/files/small_tree_job.h"

namespace metainfo {

// `new SmallTree(root, path, maxBytes, maxFiles)` starts reading. The promise `done` settles when the job has
// ended.
class SmallTreeBinding : public Napi::ObjectWrap<SmallTreeBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit SmallTreeBinding(const Napi::CallbackInfo& info);

 private:
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<AsyncJob<SmallTreeJob>> async_;
};

// Called by AsyncJob.
void settle(Napi::Env env, SmallTreeJob& job, Napi::Promise::Deferred& deferred);

}  // namespace metainfo
