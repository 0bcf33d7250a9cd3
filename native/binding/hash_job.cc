#include "binding/hash_job.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

#include "binding/convert.h"
#include "binding/errors.h"
#include "core/job.h"
#include "kernels/kernel.h"

namespace metainfo {
namespace {

std::string kernel_names() {
  std::string names;
  for (std::size_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row) {
    if (row != 0) names += ", ";
    names += kernel->name;
  }
  return names;
}

}  // namespace

const Kernel& active_kernel(Napi::Env env) {
  const char* forced = std::getenv("METAINFO_KERNEL");
  if (const Kernel* kernel = select_kernel(forced)) return *kernel;
  throw Napi::Error::New(env, std::string("METAINFO_KERNEL=") + forced +
                                  " is not a kernel that this CPU can run; choose one of: " + kernel_names());
}

// A job between its start and the moment its promise settles. Lives until both JavaScript's object and the
// ThreadSafeFunction have let go of it.
class PendingJob {
 public:
  PendingJob(Napi::Env env, Plan plan, const Kernel& kernel)
      : deferred_(Napi::Promise::Deferred::New(env)), kind_(plan.kind), job_(std::move(plan), kernel) {}

  // The order matters. Cleanup hooks run last to first, and the ThreadSafeFunction registers one of its own:
  // so ours, registered after it, stops and joins the threads while the function still exists.
  static void start(Napi::Env env, const std::shared_ptr<PendingJob>& pending) {
    pending->settle_ =
        Settle::New(env, "metainfo.HashJob", 0, 1, new std::shared_ptr<PendingJob>(pending),
                    [](Napi::Env, void*, std::shared_ptr<PendingJob>* owner) { delete owner; });
    napi_add_env_cleanup_hook(env, on_cleanup, pending.get());
    Settle settle = pending->settle_;
    pending->job_.start([settle]() { settle.NonBlockingCall(); });
  }

  Napi::Promise promise() const { return deferred_.Promise(); }
  const Gauge& gauge() const { return job_.gauge(); }
  void cancel() {
    if (!settled_) job_.cancel();
  }

 private:
  static void call_js(Napi::Env env, Napi::Function, std::shared_ptr<PendingJob>* owner, void*) {
    if (env == nullptr) return;
    const std::shared_ptr<PendingJob> pending = *owner;
    pending->job_.join();
    napi_remove_env_cleanup_hook(env, on_cleanup, pending.get());
    pending->settle(env);
    pending->settle_.Release();
  }

  static void on_cleanup(void* pending) { static_cast<PendingJob*>(pending)->job_.stop(); }

  void settle(Napi::Env env) {
    settled_ = true;
    Job::Outcome outcome = std::move(job_.outcome());
    // Cancelled after the work was done and before anyone was told: still cancelled.
    if (job_.gauge().cancelled) outcome = Failure{Failure::Code::aborted, 0, {}, {}};
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
      deferred_.Reject(to_error(env, *failure).Value());
    } else {
      deferred_.Resolve(to_digests(env, kind_, std::move(std::get<Digests>(outcome))));
    }
  }

  using Settle = Napi::TypedThreadSafeFunction<std::shared_ptr<PendingJob>, void, call_js>;

  Napi::Promise::Deferred deferred_;
  Kind kind_;
  bool settled_ = false;
  Settle settle_;
  Job job_;
};

Napi::Function HashJob::define(Napi::Env env) {
  return DefineClass(
      env, "HashJob",
      {InstanceMethod<&HashJob::progress>("progress"), InstanceMethod<&HashJob::cancel>("cancel")});
}

HashJob::HashJob(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  const Kernel& kernel = active_kernel(env);
  pending_ = std::make_shared<PendingJob>(env, to_plan(info[0].As<Napi::Object>()), kernel);
  info.This().As<Napi::Object>().Set("done", pending_->promise());
  PendingJob::start(env, pending_);
}

Napi::Value HashJob::progress(const Napi::CallbackInfo& info) {
  const Gauge& gauge = pending_->gauge();
  Napi::Object progress = Napi::Object::New(info.Env());
  progress.Set("bytes", static_cast<double>(gauge.bytes.load(std::memory_order_relaxed)));
  progress.Set("fileIndex", gauge.file_index.load(std::memory_order_relaxed));
  return progress;
}

Napi::Value HashJob::cancel(const Napi::CallbackInfo& info) {
  pending_->cancel();
  return info.Env().Undefined();
}

void define_kernels(Napi::Env env, Napi::Object exports) {
  Napi::Array kernels = Napi::Array::New(env);
  for (std::uint32_t row = 0; const Kernel* kernel = runnable_kernel(row); ++row)
    kernels.Set(row, kernel->name);
  exports.Set("kernels", kernels);
  const char* name = active_kernel(env).name;
  Napi::Object active = Napi::Object::New(env);
  active.Set("sha1", name);
  active.Set("sha256", name);
  exports.Set("active", active);
}

}  // namespace metainfo
