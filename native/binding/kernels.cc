// Reads METAINFO_KERNEL, and lists and measures kernels for JavaScript.
#include "binding/kernels.h"

#include <new>
#include <string>

#include "binding/errors.h"
#include "core/hash/measure.h"

namespace metainfo {
namespace {

std::string kernel_names() {
  std::string names;
  for (std::size_t index = 0; const Kernel* kernel = runnable_kernel(index); ++index) {
    if (index != 0) names += ", ";
    names += kernel->name;
  }
  return names;
}

// Reads process.env instead of calling getenv(), which may race with another thread that sets a variable.
std::string requested_kernel(Napi::Env env) {
  const auto variables = env.Global().Get("process").As<Napi::Object>().Get("env").As<Napi::Object>();
  const Napi::Value name = variables.Get("METAINFO_KERNEL");
  return name.IsString() ? name.As<Napi::String>().Utf8Value() : "";
}

template <typename Predicate>
const char* first_name(const Kernels& kernels, std::size_t index, Predicate predicate) {
  for (; index < kernels.count; ++index) {
    if (predicate(*kernels.list[index])) return kernels.list[index]->name;
  }
  return "";
}

// active: computed anew by each access, because the race changes it. Jobs report an unknown METAINFO_KERNEL.
Napi::Value active(const Napi::CallbackInfo& info) {
  Kernels kernels;
  if (!select_kernels(requested_kernel(info.Env()).c_str(), kernels)) select_kernels(nullptr, kernels);
  Napi::Object names = Napi::Object::New(info.Env());
  names.Set("sha1", first_name(kernels, 0, [](const Kernel& kernel) { return kernel.sha1_many != nullptr; }));
  names.Set("sha256", first_name(kernels, kernels.first_sha256,
                                 [](const Kernel& kernel) { return kernel.sha256_many != nullptr; }));
  return names;
}

// raceKernels(): what the first large job of the process does, unless a kernel is forced.
void race(const Napi::CallbackInfo& info) {
  Kernels kernels = active_kernels(info.Env());
  try {
    if (kernels.race_sha256) race_sha256(kernels);
  } catch (const std::bad_alloc&) {
    throw to_error(info.Env(), {Failure::Code::no_memory, 0, {}, {}});
  }
}

// measureKernel(kernel, milliseconds): `kernel` is an index into `kernels`.
Napi::Value measure(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Kernel* kernel =
      info[0].IsNumber() ? runnable_kernel(info[0].As<Napi::Number>().Uint32Value()) : nullptr;
  if (kernel == nullptr || !info[1].IsNumber())
    throw Napi::TypeError::New(env, "expected an index into kernels and milliseconds");
  const KernelSpeed speed = measure_kernel(*kernel, info[1].As<Napi::Number>().DoubleValue() / 1e3);
  Napi::Object result = Napi::Object::New(env);
  result.Set("sha1", speed.sha1);
  result.Set("sha1Zeros", speed.sha1_zeros);
  result.Set("sha256", speed.sha256);
  result.Set("sha256Nodes", speed.sha256_nodes);
  return result;
}

Napi::Error unknown_kernel(Napi::Env env, const std::string& forced) {
  Napi::Error error =
      Napi::Error::New(env, "METAINFO_KERNEL=" + forced +
                                " is not a kernel that this CPU can run; expected one of: " + kernel_names());
  error.Set("code", Napi::String::New(env, "kernel"));
  return error;
}

}  // namespace

Kernels active_kernels(Napi::Env env) {
  const std::string forced = requested_kernel(env);
  Kernels kernels;
  if (select_kernels(forced.c_str(), kernels)) return kernels;
  throw unknown_kernel(env, forced);
}

void define_kernels(Napi::Env env, Napi::Object exports) {
  Napi::Array names = Napi::Array::New(env);
  for (std::uint32_t index = 0; const Kernel* kernel = runnable_kernel(index); ++index)
    names.Set(index, kernel->name);
  exports.Set("kernels", names);
  active_kernels(env);  // throws if the kernel that METAINFO_KERNEL names is unknown
  exports.DefineProperty(Napi::PropertyDescriptor::Accessor<active>("active", napi_enumerable));
  exports.Set("raceKernels", Napi::Function::New<race>(env, "raceKernels"));
  exports.Set("measureKernel", Napi::Function::New<measure>(env, "measureKernel"));
}

}  // namespace metainfo
