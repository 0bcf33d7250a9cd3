#include "binding/stat_files.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/pending.h"
#include "core/stat_job.h"

namespace metainfo {

// For Pending.
void settle(Napi::Env env, StatJob& job, Napi::Promise::Deferred& deferred) {
  const std::vector<double>& numbers = job.outcome();
  auto result = Napi::Float64Array::New(env, numbers.size());
  std::copy(numbers.begin(), numbers.end(), result.Data());
  deferred.Resolve(result);
}

Napi::Value stat_files(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsBuffer()) throw Napi::TypeError::New(env, "expected paths");
  const auto bytes = info[0].As<Napi::Buffer<char>>();
  if (bytes.Length() != 0 && bytes[bytes.Length() - 1] != '\0')
    throw Napi::RangeError::New(env, "the last path is not ended by a zero");
  const auto pending = std::make_shared<Pending<StatJob>>(env, std::string(bytes.Data(), bytes.Length()));
  const Napi::Promise promise = pending->promise();
  Pending<StatJob>::start(env, pending);
  return promise;
}

}  // namespace metainfo
