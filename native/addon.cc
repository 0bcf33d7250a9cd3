#include <napi.h>

#include "binding/hash_job.h"
#include "binding/kernels.h"
#include "binding/layer_roots.h"
#include "binding/limits.h"
#include "binding/stat_files.h"

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("HashJob", metainfo::HashJob::define(env));
  exports.Set("layerRoots", Napi::Function::New<metainfo::layer_roots>(env, "layerRoots"));
  exports.Set("limits", Napi::Function::New<metainfo::limits>(env, "limits"));
  exports.Set("statFiles", Napi::Function::New<metainfo::stat_files>(env, "statFiles"));
  metainfo::define_kernels(env, exports);
  return exports;
}

NODE_API_MODULE(metainfo, init)
