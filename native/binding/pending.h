// From a crew that works to a promise that settles.
#pragma once

#include <napi.h>

#include <memory>
#include <utility>

namespace metainfo {

// A task between its start and the moment its promise settles. Lives until both JavaScript's object and the
// ThreadSafeFunction have let go of it. Task is a Crew, and `settle(env, task, deferred)` is there for it.
template <typename Task>
class Pending {
 public:
  template <typename... Arguments>
  explicit Pending(Napi::Env env, Arguments&&... arguments)
      : deferred_(Napi::Promise::Deferred::New(env)),
        task_(std::make_shared<Task>(std::forward<Arguments>(arguments)...)) {}

  // The order matters. Cleanup hooks run last to first, and the ThreadSafeFunction registers one of its own:
  // so ours, registered after it, stops the threads while the function still exists. Those that are stuck in
  // the system are left to themselves.
  static void start(Napi::Env env, const std::shared_ptr<Pending>& pending) {
    pending->finished_ =
        Finished::New(env, "metainfo", 0, 1, new std::shared_ptr<Pending>(pending),
                      [](Napi::Env, void*, std::shared_ptr<Pending>* owner) { delete owner; });
    napi_add_env_cleanup_hook(env, on_cleanup, pending.get());
    Finished finished = pending->finished_;
    pending->task_->start([finished]() { finished.NonBlockingCall(); });
  }

  // What the task reads from JavaScript's memory: not collected before the last thread has left.
  void keep(const Napi::Object& memory) { memory_ = Napi::Persistent(memory); }

  Napi::Promise promise() const { return deferred_.Promise(); }
  const Task& task() const { return *task_; }
  bool settled() const { return settled_; }
  void cancel() {
    if (!settled_) task_->cancel();
  }

 private:
  static void call_js(Napi::Env env, Napi::Function, std::shared_ptr<Pending>* owner, void*) {
    if (env == nullptr) return;
    const std::shared_ptr<Pending> pending = *owner;
    pending->memory_.Reset();
    napi_remove_env_cleanup_hook(env, on_cleanup, pending.get());
    pending->settled_ = true;
    try {
      settle(env, *pending->task_, pending->deferred_);
    } catch (const Napi::Error&) {
      // A worker that is being terminated runs no JavaScript: nobody waits for this any more.
    }
    pending->finished_.Release();
  }

  static void on_cleanup(void* data) {
    auto* pending = static_cast<Pending*>(data);
    pending->task_->stop();
    pending->memory_.Reset();
  }

  using Finished = Napi::TypedThreadSafeFunction<std::shared_ptr<Pending>, void, call_js>;

  Napi::Promise::Deferred deferred_;
  bool settled_ = false;
  Finished finished_;
  Napi::ObjectReference memory_;
  const std::shared_ptr<Task> task_;
};

}  // namespace metainfo
