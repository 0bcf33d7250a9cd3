// An addon for tests that returns the bytes that malloc has allocated, in all arenas and mappings. Only
// allocations change this number, while resident memory also changes with what an allocator caches. It
// includes no headers of Node, because they may not be installed.
#include <malloc.h>
#include <stddef.h>

typedef struct napi_env__* napi_env;
typedef struct napi_value__* napi_value;
typedef struct napi_callback_info__* napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
int napi_create_double(napi_env env, double value, napi_value* result);
int napi_create_function(napi_env env, const char* name, size_t length, napi_callback call, void* data,
                         napi_value* result);

static napi_value in_use(napi_env env, napi_callback_info info) {
  (void)info;
  const struct mallinfo2 all = mallinfo2();
  napi_value bytes = NULL;
  napi_create_double(env, (double)(all.uordblks + all.hblkhd), &bytes);
  return bytes;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  (void)exports;
  napi_value function = NULL;
  napi_create_function(env, "inUse", 5, in_use, NULL, &function);
  return function;
}
