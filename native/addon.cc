// Entry point of the addon: exports what `Binding` in src/hash/addon.ts declares.
#include <napi.h>

#ifdef _WIN32
#include <windows.h>
#elif defined __APPLE__
#include <dlfcn.h>
#endif

#include "binding/environment.h"
#include "binding/file_table.h"
#include "binding/hash_job.h"
#include "binding/kernels.h"
#include "binding/layer_roots.h"
#include "binding/limits.h"
#include "binding/scan.h"
#include "binding/small_tree.h"
#include "binding/stat_files.h"
#include "binding/write_files.h"
#include "core/threads/thread_pool.h"

// Keeps the addon loaded. Node unloads it when the last worker thread that has loaded it ends, but our
// threads that are stuck in system calls may still return to it. On Linux the linker flag nodelete does the
// same.
static void stay_loaded() {
  static const char here = 0;
#ifdef _WIN32
  HMODULE module;
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                       reinterpret_cast<LPCWSTR>(&here), &module);
#elif defined __APPLE__
  Dl_info info;
  if (::dladdr(&here, &info) != 0) ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NODELETE);
#else
  static_cast<void>(here);
#endif
}

static Napi::Object init(Napi::Env env, Napi::Object exports) {
  stay_loaded();
  metainfo::Environment::define(env, [] { metainfo::ThreadPool::process().end_parked(); });
  exports.Set("HashJob", metainfo::HashJob::define(env));
  exports.Set("hashBytes", Napi::Function::New<metainfo::hash_bytes>(env, "hashBytes"));
  exports.Set("hashNow", Napi::Function::New<metainfo::hash_now>(env, "hashNow"));
  exports.Set("layerRoots", Napi::Function::New<metainfo::layer_roots>(env, "layerRoots"));
  exports.Set("limits", Napi::Function::New<metainfo::limits>(env, "limits"));
  exports.Set("Scan", metainfo::Scan::define(env));
#ifndef _WIN32
  exports.Set("SmallTree", metainfo::SmallTreeBinding::define(env));
#endif
  exports.Set("statFiles", Napi::Function::New<metainfo::stat_files>(env, "statFiles"));
  exports.Set("usage", Napi::Function::New<metainfo::usage>(env, "usage"));
  exports.Set("writeFiles", Napi::Function::New<metainfo::write_files>(env, "writeFiles"));
  metainfo::define_file_table(exports);
  metainfo::define_kernels(env, exports);
  return exports;
}

NODE_API_MODULE(metainfo, init)
