// Starts a stat job and settles its promise.
#include "binding/stat_files.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/async_job.h"
#include "core/files/stat_job.h"

namespace metainfo {

// Called by AsyncJob.
void settle(Napi::Env env, StatJob& job, Napi::Promise::Deferred& deferred) {
  const std::vector<double>& numbers = job.outcome();
  auto result = Napi::Float64Array::New(env, numbers.size());
  std::copy(numbers.begin(), numbers.end(), result.Data());
  deferred.Resolve(result);
}

Napi::Value stat_files(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsBuffer()) throw Napi::TypeError::New(env, "paths must be a Buffer");
  const auto bytes = info[0].As<Napi::Buffer<char>>();
  if (bytes.Length() != 0 && bytes[bytes.Length() - 1] != '\0')
    throw Napi::RangeError::New(env, "the last path does not end with a zero byte");
  const auto async = std::make_shared<AsyncJob<StatJob>>(env, std::string(bytes.Data(), bytes.Length()));
  const Napi::Promise promise = async->promise();
  AsyncJob<StatJob>::start(env, async);
  return promise;
}

}  // namespace metainfo
