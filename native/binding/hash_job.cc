#include "binding/hash_job.h"

#include <new>
#include <utility>
#include <variant>

#include "binding/convert.h"
#include "binding/errors.h"
#include "binding/kernels.h"

namespace metainfo {

Napi::Function HashJob::define(Napi::Env env) {
  return DefineClass(
      env, "HashJob",
      {InstanceMethod<&HashJob::progress>("progress"), InstanceMethod<&HashJob::cancel>("cancel")});
}

HashJob::HashJob(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  const Kernels kernels = active_kernels(env);
  Napi::Array memory = Napi::Array::New(env);
  Plan plan = to_plan(info[0].As<Napi::Object>(), memory);
  try {
    pending_ = std::make_shared<Pending<Job>>(env, std::move(plan), kernels);
  } catch (const Failure& failure) {
    throw to_error(env, failure);
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  info.This().As<Napi::Object>().Set("done", pending_->promise());
  if (memory.Length() != 0) pending_->keep(memory);
  Pending<Job>::start(env, pending_);
}

void settle(Napi::Env env, Job& job, Napi::Promise::Deferred& deferred) {
  Job::Outcome outcome = std::move(job.outcome());
  // Cancelled after the work was done and before anyone was told: still cancelled.
  if (job.gauge().cancelled) outcome = Failure{Failure::Code::aborted, 0, {}, {}};
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
    deferred.Reject(to_error(env, *failure).Value());
  } else {
    deferred.Resolve(to_digests(env, job.version(), std::move(std::get<Digests>(outcome))));
  }
}

Napi::Value HashJob::progress(const Napi::CallbackInfo& info) {
  const Job& job = pending_->task();
  Napi::Object progress = Napi::Object::New(info.Env());
  progress.Set("bytes", static_cast<double>(job.gauge().bytes.load(std::memory_order_relaxed)));
  progress.Set("fileIndex", job.gauge().file_index.load(std::memory_order_relaxed));
  progress.Set("queued", static_cast<double>(pending_->settled() ? 0 : job.queued()));
  return progress;
}

Napi::Value HashJob::cancel(const Napi::CallbackInfo& info) {
  pending_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo
