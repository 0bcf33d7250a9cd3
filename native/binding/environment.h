// The running jobs of a JavaScript environment: the main thread, or a worker thread of Node.
#pragma once

#include <napi.h>

#include <list>
#include <memory>

namespace metainfo {

// A job whose promise has not settled yet. The environment calls all functions on the JavaScript thread.
class PendingJob {
 public:
  virtual ~PendingJob() = default;

 private:
  friend class Environment;
  virtual void settle_promise(Napi::Env env) = 0;
  virtual void cancel() = 0;
  // The environment ends: waits for the threads of the job, and makes it forget everything of JavaScript.
  virtual void stop() = 0;

  std::list<std::shared_ptr<PendingJob>>::iterator place_;
};

// Keeps the running jobs of its environment, and the event loop alive while there are any. When the
// environment ends, it stops them.
class Environment {
 public:
  // Call it when the addon is loaded into an environment. All other functions find the Environment with of().
  // `at_last_end` is called when the last environment of the process that has loaded the addon ends.
  static void define(Napi::Env env, void (*at_last_end)());
  static Environment& of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }

  Environment(Napi::Env env, void (*at_last_end)());

  // Call it on the JavaScript thread, before the job starts.
  void add(const std::shared_ptr<PendingJob>& job);

  // Call it once when the job has ended, on any thread, but not after stop(): the JavaScript thread will
  // settle it.
  void post(PendingJob& job) { ended_.NonBlockingCall(&job); }

 private:
  static void on_ended(Napi::Env env, Napi::Function, Environment* self, PendingJob* job);
  static void on_cleanup(void* self);
  void settle(PendingJob& job);
  void stop_jobs();

  // One for all jobs, because making one costs more than hashing a small file.
  using Ended = Napi::TypedThreadSafeFunction<Environment, PendingJob, on_ended>;

  const Napi::Env env_;
  void (*const at_last_end_)();
  Ended ended_;
  std::list<std::shared_ptr<PendingJob>> jobs_;
};

}  // namespace metainfo
