// Settles the jobs of an environment when they end, and stops them when the environment ends.
#include "binding/environment.h"

#include <atomic>

namespace metainfo {
namespace {

std::atomic<unsigned> environments{0};

}  // namespace

void Environment::define(Napi::Env env, void (*at_last_end)()) {
  env.SetInstanceData(new Environment(env, at_last_end));
}

// The order matters: cleanup hooks run last to first, and the ThreadSafeFunction registers one of its own.
// Ours, registered after it, stops the jobs while the function still exists. Node deletes the instance data
// later.
Environment::Environment(Napi::Env env, void (*at_last_end)())
    : env_(env), at_last_end_(at_last_end), ended_(Ended::New(env, "metainfo", 0, 1, this)) {
  ended_.Unref(env);
  napi_add_env_cleanup_hook(env, on_cleanup, this);
  ++environments;
}

void Environment::add(const std::shared_ptr<PendingJob>& job) {
  if (jobs_.empty()) ended_.Ref(env_);
  job->place_ = jobs_.insert(jobs_.end(), job);
}

void Environment::on_ended(Napi::Env env, Napi::Function, Environment* self, PendingJob* job) {
  // Without an environment, the job was stopped and may be gone.
  if (env != nullptr) self->settle(*job);
}

void Environment::settle(PendingJob& job) {
  const std::shared_ptr<PendingJob> ended = *job.place_;
  jobs_.erase(job.place_);
  if (jobs_.empty()) ended_.Unref(env_);
  ended->settle_promise(env_);
}

void Environment::on_cleanup(void* self) { static_cast<Environment*>(self)->stop_jobs(); }

// Threads that are stuck in system calls are given up.
void Environment::stop_jobs() {
  // Cancel all before waiting for the first, and those that wait for a thread before those that have one.
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) (*job)->cancel();
  for (const std::shared_ptr<PendingJob>& job : jobs_) job->stop();
  jobs_.clear();
  ended_.Release();
  if (--environments == 0) at_last_end_();
}

}  // namespace metainfo
