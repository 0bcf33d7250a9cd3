// Translates between JavaScript and the budget of the process.
#include "binding/limits.h"

#include "core/threads/budget.h"
#include "core/threads/progress.h"

namespace metainfo {

Napi::Value limits(const Napi::CallbackInfo& info) {
  Budget& budget = Budget::process();
  // src/hash/hash-request.ts has validated both.
  if (info[0].IsNumber() && info[1].IsNumber()) {
    budget.set_limits({info[0].As<Napi::Number>().Uint32Value(),
                       static_cast<std::uint64_t>(info[1].As<Napi::Number>().Int64Value())});
  }
  const Budget::Limits now = budget.limits();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("threads", now.threads);
  result.Set("memory", static_cast<double>(now.memory));
  return result;
}

Napi::Value usage(const Napi::CallbackInfo& info) {
  const Budget::Usage now = Budget::process().usage();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("threads", now.threads);
  result.Set("memory", static_cast<double>(now.memory));
  result.Set("waiting", static_cast<double>(now.waiting));
  result.Set("bytes", static_cast<double>(Progress::total_bytes.load(std::memory_order_relaxed)));
  return result;
}

}  // namespace metainfo
