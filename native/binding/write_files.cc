// Writes a group of new files on a thread of libuv's pool and settles its promise.
#include "binding/write_files.h"

#include <string>
#include <utility>
#include <vector>

#include "core/files/write_group.h"

namespace metainfo {
namespace {

// A thread of libuv waits for the disk: one of the budget would hash nothing meanwhile.
class WriteFiles final : public Napi::AsyncWorker {
 public:
  // `memory` holds the bytes of the files.
  WriteFiles(Napi::Env env, std::string folder, std::vector<NewFile> files, const Napi::Object& memory)
      : AsyncWorker(env, "metainfo:writeFiles"),
        deferred_(Napi::Promise::Deferred::New(env)),
        memory_(Napi::Persistent(memory)),
        folder_(std::move(folder)),
        files_(std::move(files)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override { write_group(folder_.c_str(), files_); }

  void OnOK() override {
    try {
      auto errors = Napi::Int32Array::New(Env(), files_.size());
      for (std::size_t i = 0; i < files_.size(); ++i) errors[i] = files_[i].error;
      deferred_.Resolve(errors);
    } catch (const Napi::Error&) {
      // A worker thread of Node that is being terminated runs no JavaScript: nobody waits for this promise.
    }
  }

 private:
  const Napi::Promise::Deferred deferred_;
  const Napi::ObjectReference memory_;
  const std::string folder_;
  std::vector<NewFile> files_;
};

NewFile to_file(const Napi::Object& value) {
  NewFile file;
  file.name = value.Get("name").As<Napi::String>();
  file.temporary = value.Get("temporary").As<Napi::String>();
  const auto bytes = value.Get("bytes").As<Napi::Uint8Array>();
  file.bytes = bytes.Data();
  file.size = bytes.ByteLength();
  const Napi::Value descriptor = value.Get("descriptor");
  if (descriptor.IsNumber()) file.descriptor = descriptor.As<Napi::Number>().Int32Value();
  const Napi::Value mtime = value.Get("mtime");
  if (mtime.IsNumber()) file.mtime = mtime.As<Napi::Number>().DoubleValue();
  if (!value.Get("owner").IsObject()) return file;
  const auto owner = value.Get("owner").As<Napi::Object>();
  const auto number = [&](const char* key) { return owner.Get(key).As<Napi::Number>().Uint32Value(); };
  file.owner = {number("uid"), number("gid"), number("mode")};
  return file;
}

}  // namespace

Napi::Value write_files(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) throw Napi::TypeError::New(env, "folder must be a string");
  if (!info[1].IsArray()) throw Napi::TypeError::New(env, "files must be an array");
  const auto values = info[1].As<Napi::Array>();
  std::vector<NewFile> files;
  for (std::uint32_t i = 0; i < values.Length(); ++i)
    files.push_back(to_file(values.Get(i).As<Napi::Object>()));
  auto* const worker = new WriteFiles(env, info[0].As<Napi::String>(), std::move(files), values);
  worker->Queue();
  return worker->promise();
}

}  // namespace metainfo
