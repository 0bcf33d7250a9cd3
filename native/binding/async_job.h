// Connects a job on native threads with a JavaScript promise that settles when the job has finished.
#pragma once

#include <napi.h>

#include <memory>
#include <utility>

#include "binding/environment.h"

namespace metainfo {

// Owns a job from its start until its promise settles. It is itself owned by the JavaScript object and, while
// it runs, by the environment. Job is a WorkerGroup (or has the same start, cancel and stop), and a function
// `settle(env, job, deferred)` must exist for it.
//
// All members are called on the JavaScript thread.
template <typename Job>
class AsyncJob final : public PendingJob {
 public:
  template <typename... Arguments>
  explicit AsyncJob(Napi::Env env, Arguments&&... arguments)
      : deferred_(Napi::Promise::Deferred::New(env)),
        job_(std::make_shared<Job>(std::forward<Arguments>(arguments)...)) {}

  static void start(Napi::Env env, const std::shared_ptr<AsyncJob>& self) {
    Environment& environment = Environment::of(env);
    environment.add(self);
    self->job_->start([&environment, job = self.get()] { environment.post(*job); });
  }

  // Keeps JavaScript memory, which the job reads, from being collected before the job has ended.
  void keep(const Napi::Object& memory) { memory_ = Napi::Persistent(memory); }

  Napi::Promise promise() const { return deferred_.Promise(); }
  const Job& job() const { return *job_; }
  bool settled() const { return settled_; }
  void cancel() override {
    if (!settled_) job_->cancel();
  }

 private:
  void settle_promise(Napi::Env env) override {
    memory_.Reset();
    settled_ = true;
    try {
      settle(env, *job_, deferred_);
    } catch (const Napi::Error&) {
      // A worker thread of Node that is being terminated runs no JavaScript: nobody waits for this promise.
    }
  }

  void stop() override {
    job_->stop();
    memory_.Reset();
  }

  Napi::Promise::Deferred deferred_;
  bool settled_ = false;
  Napi::ObjectReference memory_;
  const std::shared_ptr<Job> job_;
};

}  // namespace metainfo
