#include "binding/hash_job.h"

#include <new>
#include <utility>
#include <variant>

#include "binding/convert.h"
#include "binding/errors.h"
#include "binding/kernels.h"
#include "core/job.h"

namespace metainfo {
// A job between its start and the moment its promise settles. Lives until both JavaScript's object and the
// ThreadSafeFunction have let go of it.
class PendingJob {
 public:
  PendingJob(Napi::Env env, Plan plan, const Kernels& kernels)
      : deferred_(Napi::Promise::Deferred::New(env)), kind_(plan.kind), job_(std::move(plan), kernels) {}

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
  std::size_t queued() const { return settled_ ? 0 : job_.queued(); }
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
  const Kernels kernels = active_kernels(env);
  try {
    pending_ = std::make_shared<PendingJob>(env, to_plan(info[0].As<Napi::Object>()), kernels);
  } catch (const Failure& failure) {
    throw to_error(env, failure);
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  info.This().As<Napi::Object>().Set("done", pending_->promise());
  PendingJob::start(env, pending_);
}

Napi::Value HashJob::progress(const Napi::CallbackInfo& info) {
  const Gauge& gauge = pending_->gauge();
  Napi::Object progress = Napi::Object::New(info.Env());
  progress.Set("bytes", static_cast<double>(gauge.bytes.load(std::memory_order_relaxed)));
  progress.Set("fileIndex", gauge.file_index.load(std::memory_order_relaxed));
  progress.Set("queued", static_cast<double>(pending_->queued()));
  return progress;
}

Napi::Value HashJob::cancel(const Napi::CallbackInfo& info) {
  pending_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo
