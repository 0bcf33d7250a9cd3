// Reads the fields of a request, with a check of every type, and builds the object of digests.
#include "binding/convert.h"

#include <algorithm>
#include <utility>

#include "binding/columns.h"
#include "binding/typed_arrays.h"

namespace metainfo {
namespace {

std::string key_text(const char* key) { return key; }
std::string key_text(const Napi::String& key) { return key.Utf8Value(); }

// Reads a field and checks its type with `is`. The key is a C string or a JavaScript string.
template <typename Value, typename Key>
Value get(const Napi::Object& object, const Key& key, bool (Napi::Value::*is)() const) {
  const Napi::Value value = object.Get(key);
  if (!(value.*is)())
    throw Napi::TypeError::New(object.Env(), "request field has the wrong type: " + key_text(key));
  return value.As<Value>();
}

template <typename Key>
double number(const Napi::Object& object, const Key& key) {
  return get<Napi::Number>(object, key, &Napi::Value::IsNumber).DoubleValue();
}

template <typename Key>
std::uint64_t size(const Napi::Object& object, const Key& key) {
  const double value = number(object, key);
  if (!is_size(value))
    throw Napi::RangeError::New(object.Env(), "request field is out of range: " + key_text(key));
  return static_cast<std::uint64_t>(value);
}

std::string text(const Napi::Object& object, const char* key) {
  return get<Napi::String>(object, key, &Napi::Value::IsString).Utf8Value();
}

// Reads the files of a request. It makes the JavaScript strings of the field names once, because that is most
// of the cost of reading a field.
class RequestedFileReader {
 public:
  explicit RequestedFileReader(Napi::Env env) : env_(env) {}

  // Adds content in memory to `memory`. Reads only the fields that the sort of file needs: each one costs
  // time.
  RequestedFile read(const Napi::Object& value, Napi::Array& memory) const {
    RequestedFile file;
    file.length = size(value, length_);
    const Napi::Value path = value.Get(path_);
    if (path.IsNull()) {
      const Napi::Value data = value.Get(data_);
      file.pad = data.IsUndefined();
      if (file.pad) return file;
      file.offset = size(value, offset_);
      view(data, file, memory);
      return file;
    }
    if (path.IsString()) {
      file.path = path.As<Napi::String>().Utf8Value();
    } else if (path.IsBuffer()) {
      const auto bytes = path.As<Napi::Buffer<char>>();
      file.path.assign(bytes.Data(), bytes.Length());
    } else {
      throw Napi::TypeError::New(env_, "request field has the wrong type: path");
    }
    file.offset = size(value, offset_);
    file.size = size(value, size_);
    file.mtime_ms = number(value, mtime_ms_);
    return file;
  }

 private:
  void view(const Napi::Value& data, RequestedFile& file, Napi::Array& memory) const {
    const auto bytes = to_array<std::uint8_t>(data, "data");
    static constexpr std::uint8_t kEmpty = 0;
    file.data = bytes.ByteLength() == 0 ? &kEmpty : bytes.Data();
    file.size = bytes.ByteLength();
    if (file.length > file.size || file.offset > file.size - file.length)
      throw Napi::RangeError::New(env_, "request field is out of range: data");
    memory.Set(memory.Length(), data);
  }

  Napi::String key(const char* name) const { return Napi::String::New(env_, name); }

  Napi::Env env_;
  Napi::String path_ = key("path");
  Napi::String data_ = key("data");
  Napi::String offset_ = key("offset");
  Napi::String length_ = key("length");
  Napi::String size_ = key("size");
  Napi::String mtime_ms_ = key("mtimeMs");
};

// Takes a FileRanges of src/hash/addon.ts. `count` is the number of files that it may name.
FileRanges to_ranges(const Napi::Object& value, std::size_t count) {
  FileRanges ranges;
  const auto files = array_field<std::uint32_t>(value, "files");
  ranges.count = files.ElementLength();
  ranges.files = to_column(files);
  ranges.offsets = to_numbers(value, "offsets", ranges.count);
  ranges.lengths = to_numbers(value, "lengths", ranges.count);
  for (std::size_t i = 0; i < ranges.count; ++i) {
    const std::uint32_t file = ranges.files.get()[i];
    if ((file >= count && file != FileRanges::kPad) || !is_size(ranges.offsets.get()[i]) ||
        !is_size(ranges.lengths.get()[i]))
      throw Napi::RangeError::New(value.Env(), "request field is out of range: ranges");
  }
  return ranges;
}

// Takes the columns of files on disk: a DiskFiles of src/layout/file-table.ts, and perhaps ranges of them.
DiskColumns to_disk_columns(const Napi::Object& value) {
  const auto columns = get<Napi::Object>(value, "columns", &Napi::Value::IsObject);
  DiskColumns result;
  result.root = text(value, "root");
  result.files = to_files(columns);
  result.mtimes_ms = to_numbers(columns, "mtimes", result.files.count);
  if (const auto paths = to_paths_or_none(columns.Get("diskPaths"), result.files.count))
    result.files.paths = *paths;
  const Napi::Value ranges = value.Get("ranges");
  if (ranges.IsObject()) result.ranges = to_ranges(ranges.As<Napi::Object>(), result.files.count);
  return result;
}

}  // namespace

Version to_version(const Napi::String& text) {
  const std::string version = text.Utf8Value();
  return version == "v1" ? Version::v1 : version == "v2" ? Version::v2 : Version::hybrid;
}

HashRequest to_request(const Napi::Object& value, Napi::Array& memory) {
  const Napi::Env env = value.Env();
  HashRequest request;
  request.version = to_version(get<Napi::String>(value, "version", &Napi::Value::IsString));
  request.piece_length = size(value, "pieceLength");
  request.read_size = static_cast<std::size_t>(size(value, "readSize"));
  request.mark_missing = text(value, "onMissing") == "mark";
  if (request.piece_length == 0 || request.read_size == 0)
    throw Napi::RangeError::New(env, "pieceLength and readSize must be above 0");
  request.memory_limit = static_cast<std::size_t>(size(value, "memoryLimit"));
  // Each worker needs a buffer of at least one read.
  request.threads = static_cast<unsigned>(
      std::min<std::uint64_t>(size(value, "threads"), request.memory_limit / request.read_size));
  if (request.threads == 0)
    throw Napi::RangeError::New(env, "memoryLimit must be at least readSize, threads above 0");

  request.padded_files =
      static_cast<std::size_t>(value.Get("paddedFiles").IsUndefined() ? 0 : size(value, "paddedFiles"));
  if (!value.Get("files").IsArray()) {
    request.columns = to_disk_columns(get<Napi::Object>(value, "files", &Napi::Value::IsObject));
    return request;
  }
  const auto files = value.Get("files").As<Napi::Array>();
  const std::uint32_t count = files.Length();
  request.files.reserve(count);
  const RequestedFileReader reader(env);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(env);
    request.files.push_back(reader.read(files.Get(i).As<Napi::Object>(), memory));
  }
  return request;
}

Napi::Object to_digests(Napi::Env env, Version version, Digests digests) {
  Napi::Object result = Napi::Object::New(env);
  if (version != Version::v2) result.Set("v1", to_buffer(env, std::move(digests.v1)));
  if (version != Version::v1) {
    Napi::Object v2 = Napi::Object::New(env);
    v2.Set("roots", to_buffer(env, std::move(digests.roots)));
    v2.Set("layers", to_buffer(env, std::move(digests.layers)));
    result.Set("v2", v2);
  }
  Napi::Array missing = Napi::Array::New(env, digests.missing.size());
  for (std::uint32_t i = 0; i < digests.missing.size(); ++i) missing.Set(i, digests.missing[i]);
  result.Set("missing", missing);
  return result;
}

}  // namespace metainfo
