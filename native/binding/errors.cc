// The names of failure codes, which src/hash/native.ts knows.
#include "binding/errors.h"

namespace metainfo {
namespace {

const char* name_of(Failure::Code code) {
  switch (code) {
    case Failure::Code::open:
      return "open";
    case Failure::Code::read:
      return "read";
    case Failure::Code::changed:
      return "changed";
    case Failure::Code::not_a_file:
      return "not-a-file";
    case Failure::Code::no_memory:
      return "no-memory";
    case Failure::Code::no_thread:
      return "no-thread";
    case Failure::Code::aborted:
      return "aborted";
    case Failure::Code::internal:
      break;
  }
  return "internal";
}

}  // namespace

Napi::Error to_error(Napi::Env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.detail);
  error.Set("code", Napi::String::New(env, name_of(failure.code)));
  error.Set("errno", Napi::Number::New(env, failure.error));
  error.Set("path", Napi::Buffer<char>::Copy(env, failure.path.data(), failure.path.size()));
  return error;
}

}  // namespace metainfo
