// Translates between JavaScript and a hash job.
#include "binding/hash_job.h"

#include <new>
#include <utility>
#include <variant>

#include "binding/convert.h"
#include "binding/errors.h"
#include "binding/kernels.h"
#include "binding/typed_arrays.h"
#include "core/hash/merkle.h"
#include "core/hash/short_content.h"

namespace metainfo {
namespace {

// Makes a Job, or what owns one, for the request that was given to JavaScript's function. `arguments` are
// those before the request.
template <typename Owner, typename... Arguments>
std::shared_ptr<Owner> make_job(const Napi::CallbackInfo& info, Napi::Array& memory, Arguments... arguments) {
  const Napi::Env env = info.Env();
  const Kernels kernels = active_kernels(env);
  try {
    return std::make_shared<Owner>(arguments..., to_request(info[0].As<Napi::Object>(), memory), kernels);
  } catch (const Failure& failure) {
    throw to_error(env, failure);
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
}

}  // namespace

Napi::Function HashJob::define(Napi::Env env) {
  return DefineClass(
      env, "HashJob",
      {InstanceMethod<&HashJob::progress>("progress"), InstanceMethod<&HashJob::cancel>("cancel")});
}

HashJob::HashJob(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  Napi::Array memory = Napi::Array::New(env);
  async_ = make_job<AsyncJob<Job>>(info, memory, env);
  info.This().As<Napi::Object>().Set("done", async_->promise());
  if (memory.Length() != 0) async_->keep(memory);
  AsyncJob<Job>::start(env, async_);
}

void settle(Napi::Env env, Job& job, Napi::Promise::Deferred& deferred) {
  Job::Outcome outcome = std::move(job.outcome());
  // A job that was cancelled after it had finished, but before its promise settled, counts as cancelled.
  if (job.progress().cancelled) outcome = Failure{Failure::Code::aborted, 0, {}, {}};
  if (const auto* failure = std::get_if<Failure>(&outcome)) {
    deferred.Reject(to_error(env, *failure).Value());
  } else {
    deferred.Resolve(to_digests(env, job.version(), std::move(std::get<Digests>(outcome))));
  }
}

Napi::Value hash_now(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Array memory = Napi::Array::New(env);
  const auto job = make_job<Job>(info, memory);
  job->run_here();
  if (const auto* failure = std::get_if<Failure>(&job->outcome())) throw to_error(env, *failure);
  return to_digests(env, job->version(), std::get<Digests>(std::move(job->outcome())));
}

Napi::Value hash_bytes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!is_array<std::uint8_t>(info[0]) || !info[1].IsString() || !info[2].IsNumber() ||
      !is_array<std::uint8_t>(info[3]))
    throw Napi::TypeError::New(env, "hashBytes takes bytes, a version, a piece length and bytes");
  const auto data = info[0].As<Napi::Uint8Array>();
  auto out = info[3].As<Napi::Uint8Array>();
  const double piece_length = info[2].As<Napi::Number>().DoubleValue();
  if (data.ByteLength() == 0 || piece_length < kBlockSize || !is_size(piece_length))
    throw Napi::RangeError::New(env, "hashBytes needs content, and pieces of at least a block");
  const ShortContent content{data.Data(), data.ByteLength(), static_cast<std::uint64_t>(piece_length),
                             to_version(info[1].As<Napi::String>())};
  if (out.ByteLength() != content.hash_bytes())
    throw Napi::RangeError::New(env, "hashBytes needs an output of the size of all hashes");
  try {
    hash_short(content, active_kernels(env), out.Data());
  } catch (const std::bad_alloc&) {
    throw to_error(env, {Failure::Code::no_memory, 0, {}, {}});
  }
  return env.Undefined();
}

Napi::Value HashJob::progress(const Napi::CallbackInfo& info) {
  const Job& job = async_->job();
  Napi::Object progress = Napi::Object::New(info.Env());
  progress.Set("bytes", static_cast<double>(job.progress().bytes.load(std::memory_order_relaxed)));
  progress.Set("fileIndex", job.progress().file_index.load(std::memory_order_relaxed));
  progress.Set("queued", static_cast<double>(async_->settled() ? 0 : job.queued()));
  return progress;
}

Napi::Value HashJob::cancel(const Napi::CallbackInfo& info) {
  async_->cancel();
  return info.Env().Undefined();
}

}  // namespace metainfo
