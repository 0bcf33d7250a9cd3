// Connects a job on native threads with a JavaScript promise that settles when the job has finished.
#pragma once

#include <napi.h>

#include <memory>
#include <utility>

namespace metainfo {

// Owns a job from its start until its promise settles. It is itself owned by the JavaScript object and by the
// ThreadSafeFunction, and lives as long as either. Job is a WorkerGroup (or has the same start, cancel and
// stop), and a function `settle(env, job, deferred)` must exist for it.
//
// All members are called on the JavaScript thread.
template <typename Job>
class AsyncJob {
 public:
  template <typename... Arguments>
  explicit AsyncJob(Napi::Env env, Arguments&&... arguments)
      : deferred_(Napi::Promise::Deferred::New(env)),
        job_(std::make_shared<Job>(std::forward<Arguments>(arguments)...)) {}

  // The order matters: cleanup hooks run last to first, and the ThreadSafeFunction registers one of its own.
  // Ours, registered after it, stops the threads while the function still exists. Threads that are stuck in
  // system calls are given up.
  static void start(Napi::Env env, const std::shared_ptr<AsyncJob>& self) {
    self->finished_ = Finished::New(env, "metainfo", 0, 1, new std::shared_ptr<AsyncJob>(self),
                                    [](Napi::Env, void*, std::shared_ptr<AsyncJob>* owner) { delete owner; });
    napi_add_env_cleanup_hook(env, on_cleanup, self.get());
    Finished finished = self->finished_;
    self->job_->start([finished]() { finished.NonBlockingCall(); });
  }

  // Keeps JavaScript memory, which the job reads, from being collected before the job has ended.
  void keep(const Napi::Object& memory) { memory_ = Napi::Persistent(memory); }

  Napi::Promise promise() const { return deferred_.Promise(); }
  const Job& job() const { return *job_; }
  bool settled() const { return settled_; }
  void cancel() {
    if (!settled_) job_->cancel();
  }

 private:
  static void call_js(Napi::Env env, Napi::Function, std::shared_ptr<AsyncJob>* owner, void*) {
    if (env == nullptr) return;
    const std::shared_ptr<AsyncJob> self = *owner;
    self->memory_.Reset();
    napi_remove_env_cleanup_hook(env, on_cleanup, self.get());
    self->settled_ = true;
    try {
      settle(env, *self->job_, self->deferred_);
    } catch (const Napi::Error&) {
      // A worker thread of Node that is being terminated runs no JavaScript: nobody waits for this promise.
    }
    self->finished_.Release();
  }

  static void on_cleanup(void* data) {
    auto* self = static_cast<AsyncJob*>(data);
    self->job_->stop();
    self->memory_.Reset();
  }

  using Finished = Napi::TypedThreadSafeFunction<std::shared_ptr<AsyncJob>, void, call_js>;

  Napi::Promise::Deferred deferred_;
  bool settled_ = false;
  Finished finished_;
  Napi::ObjectReference memory_;
  const std::shared_ptr<Job> job_;
};

}  // namespace metainfo
