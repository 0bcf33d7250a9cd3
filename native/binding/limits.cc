// Translates between JavaScript and the budget of the process.
#include "binding/limits.h"

#include "core/threads/budget.h"

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

}  // namespace metainfo
