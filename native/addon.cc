#include <napi.h>

#include "binding/hash_job.h"

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("HashJob", metainfo::HashJob::define(env));
  metainfo::define_kernels(env, exports);
  return exports;
}

NODE_API_MODULE(metainfo, init)
