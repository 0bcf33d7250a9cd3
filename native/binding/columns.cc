// Takes columns from JavaScript, with checks, and gives columns to JavaScript.
#include "binding/columns.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "binding/typed_arrays.h"

namespace metainfo {
namespace {

void require_count(const Napi::TypedArray& array, std::size_t count) {
  if (array.ElementLength() != count)
    throw Napi::RangeError::New(array.Env(), "the columns have different lengths");
}

}  // namespace

std::size_t count_files(const Napi::Object& columns) {
  return array_field<double>(columns, "lengths").ElementLength();
}

PathColumn to_paths(const Napi::Object& paths, std::size_t count) {
  const auto bytes = array_field<std::uint8_t>(paths, "bytes");
  const auto ends = array_field<std::uint32_t>(paths, "ends");
  require_count(ends, count);
  if ((count == 0 ? 0 : ends[count - 1]) != bytes.ByteLength())
    throw Napi::RangeError::New(paths.Env(), "the paths do not end with the bytes");
  for (std::size_t i = 1; i < count; ++i) {
    if (ends[i] < ends[i - 1])
      throw Napi::RangeError::New(paths.Env(), "the ends of the paths are not in order");
  }
  const Column<std::uint8_t> column = to_column(bytes);
  return {Column<char>(column, reinterpret_cast<const char*>(column.get())), to_column(ends)};
}

std::pair<PathColumn, std::size_t> to_paths(const Napi::Object& paths) {
  const std::size_t count = array_field<std::uint32_t>(paths, "ends").ElementLength();
  return {to_paths(paths, count), count};
}

std::optional<PathColumn> to_paths_or_none(const Napi::Value& paths_or_null, std::size_t count) {
  if (!paths_or_null.IsObject()) return std::nullopt;
  return to_paths(paths_or_null.As<Napi::Object>(), count);
}

Column<double> to_numbers(const Napi::Object& columns, const char* key, std::size_t count) {
  const auto numbers = array_field<double>(columns, key);
  require_count(numbers, count);
  return to_column(numbers);
}

FileColumns to_files(const Napi::Object& columns, Lengths lengths) {
  FileColumns files;
  files.count = count_files(columns);
  files.paths = to_paths(columns.Get("paths").As<Napi::Object>(), files.count);
  files.lengths = to_numbers(columns, "lengths", files.count);
  for (std::size_t i = 0; i < files.count; ++i) {
    const double length = files.lengths.get()[i];
    if (!is_size(length) && !(lengths == Lengths::any && std::isnan(length)))
      throw Napi::RangeError::New(columns.Env(), "a length is no number of bytes");
  }
  return files;
}

Napi::Object to_path_column(Napi::Env env, PathArray paths) {
  Napi::Object column = Napi::Object::New(env);
  column.Set("bytes", to_buffer(env, std::move(paths.bytes)));
  column.Set("ends", to_typed_array(env, std::move(paths.ends)));
  return column;
}

Napi::Object to_columns(Napi::Env env, FileArrays files) {
  Napi::Object columns = Napi::Object::New(env);
  const bool has_disk_paths = !files.disk_paths.ends.empty();
  columns.Set("paths", to_path_column(env, std::move(files.paths)));
  columns.Set("lengths", to_typed_array(env, std::move(files.lengths)));
  columns.Set("mtimes", to_typed_array(env, std::move(files.mtimes)));
  columns.Set("ctimes", to_typed_array(env, std::move(files.ctimes)));
  columns.Set("diskPaths", has_disk_paths ? Napi::Value(to_path_column(env, std::move(files.disk_paths)))
                                          : Napi::Value(env.Null()));
  return columns;
}

}  // namespace metainfo
