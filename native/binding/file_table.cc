// Starts tasks on the columns of a file table and settles their promises.
#include "binding/file_table.h"

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "binding/async_job.h"
#include "binding/columns.h"
#include "binding/errors.h"
#include "binding/typed_arrays.h"
#include "core/table/file_columns.h"
#include "core/table/file_decoder.h"
#include "core/table/file_encoder.h"
#include "core/table/path_order.h"
#include "core/threads/task_job.h"

namespace metainfo {
namespace {

// A task, and how its result becomes a value of JavaScript.
class TableJob final : public TaskJob {
 public:
  using Result = std::function<Napi::Value(Napi::Env)>;

  TableJob(Task task, Result result) : TaskJob(std::move(task)), result_(std::move(result)) {}
  ~TableJob() override { stop(); }

  Napi::Value result(Napi::Env env) const { return result_(env); }

 private:
  const Result result_;
};

// Called by AsyncJob.
void settle(Napi::Env env, TableJob& job, Napi::Promise::Deferred& deferred) {
  if (job.failure()) {
    deferred.Reject(to_error(env, *job.failure()).Value());
  } else {
    deferred.Resolve(job.result(env));
  }
}

// Starts a task that makes a T.
template <typename T, typename Make, typename Convert>
Napi::Value start_task(Napi::Env env, Make make, Convert convert) {
  const auto made = std::make_shared<std::optional<T>>();
  const auto async = std::make_shared<AsyncJob<TableJob>>(
      env, [made, make](const std::atomic<bool>& cancelled) { made->emplace(make(cancelled)); },
      [made, convert](Napi::Env result_env) { return convert(result_env, std::move(**made)); });
  const Napi::Promise promise = async->promise();
  AsyncJob<TableJob>::start(env, async);
  return promise;
}

Padding to_padding(const Napi::Value& value) {
  Padding padding;
  if (!value.IsObject()) return padding;
  const auto object = value.As<Napi::Object>();
  padding.piece_length =
      static_cast<std::uint64_t>(object.Get("pieceLength").As<Napi::Number>().Int64Value());
  padding.tail_pad = object.Get("tailPad").ToBoolean();
  const std::string names = object.Get("names").ToString();
  if (names == "unique") padding.names = PadNames::unique;
  if (names == "auto") padding.names = PadNames::automatic;
  return padding;
}

struct Sorted {
  std::vector<std::uint32_t> order;
  std::size_t collision = 0;
  FileArrays files;
  FileFacts facts;
};

Napi::Value to_sorted(Napi::Env env, Sorted sorted) {
  Napi::Object result = Napi::Object::New(env);
  const auto collision = sorted.collision == sorted.order.size() ? -1 : static_cast<double>(sorted.collision);
  result.Set("collision", collision);
  result.Set("order", to_typed_array(env, std::move(sorted.order)));
  result.Set("columns", to_columns(env, std::move(sorted.files)));
  Napi::Object facts = Napi::Object::New(env);
  facts.Set("totalLength", sorted.facts.total_length);
  facts.Set("hasNamesLikePads", sorted.facts.names_like_pads);
  result.Set("facts", facts);
  return result;
}

std::vector<double> to_vector(const FileSizes& sizes) {
  return {sizes.bytes,       sizes.longest,          sizes.pieces,     sizes.layers,
          sizes.layer_bytes, sizes.components,       sizes.deepest,    sizes.path_units,
          sizes.list_items,  sizes.list_bytes,       sizes.pads,       sizes.pad_bytes,
          sizes.shared_pads, sizes.first_shared_pad, sizes.tree_items, sizes.tree_bytes};
}

Napi::Value bytes_to_buffer(Napi::Env env, ByteArray bytes) {
  std::uint8_t* const data = bytes.data.get();
  const std::size_t size = bytes.size;
  return to_buffer(env, std::move(bytes), data, size);
}

Napi::Value sort_files(const Napi::CallbackInfo& info) {
  const auto columns = info[0].As<Napi::Object>();
  const FileColumns files = to_files(columns, Lengths::any);
  const Column<double> mtimes = to_numbers(columns, "mtimes", files.count);
  const Column<double> ctimes = to_numbers(columns, "ctimes", files.count);
  const std::optional<PathColumn> disk_paths = to_paths_or_none(columns.Get("diskPaths"), files.count);
  const bool v1 = info[1].ToBoolean();
  const std::optional<PathColumn> lower = to_paths_or_none(info[2], files.count);
  const auto make = [=](const std::atomic<bool>& cancelled) {
    Sorted sorted;
    const PathColumn* const lower_or_null = lower ? &*lower : nullptr;
    sorted.order = v1 ? v1_order(files.paths, lower_or_null, files.count, cancelled)
                      : v2_order(files.paths, files.count, cancelled);
    if (cancelled) return sorted;
    sorted.collision = v1 ? files.count : first_collision(files.paths, sorted.order);
    sorted.files.paths = reordered(files.paths, sorted.order);
    if (disk_paths) sorted.files.disk_paths = reordered(*disk_paths, sorted.order);
    sorted.files.lengths = reordered(files.lengths, sorted.order);
    sorted.files.mtimes = reordered(mtimes, sorted.order);
    sorted.files.ctimes = reordered(ctimes, sorted.order);
    sorted.facts = facts_of(files);
    return sorted;
  };
  return start_task<Sorted>(info.Env(), make, to_sorted);
}

Napi::Value match_paths(const Napi::CallbackInfo& info) {
  const auto [paths, count] = to_paths(info[0].As<Napi::Object>());
  const auto [others, other_count] = to_paths(info[1].As<Napi::Object>());
  const auto make = [paths = paths, count = count, others = others,
                     other_count = other_count](const std::atomic<bool>& cancelled) {
    return match_paths(paths, count, others, other_count, cancelled);
  };
  return start_task<std::vector<std::uint32_t>>(info.Env(), make,
                                                [](Napi::Env env, std::vector<std::uint32_t> matches) {
                                                  return Napi::Value(to_typed_array(env, std::move(matches)));
                                                });
}

Napi::Value measure_files(const Napi::CallbackInfo& info) {
  const FileColumns files = to_files(info[0].As<Napi::Object>());
  const Padding padding = to_padding(info[1]);
  const auto piece_length = static_cast<std::uint64_t>(info[2].As<Napi::Number>().Int64Value());
  if (piece_length == 0) throw Napi::RangeError::New(info.Env(), "the piece length must be above 0");
  const std::size_t max_components = info[3].As<Napi::Number>().Uint32Value();
  const auto make = [=](const std::atomic<bool>& cancelled) {
    return measure_files(files, padding, piece_length, max_components, cancelled);
  };
  return start_task<FileSizes>(info.Env(), make, [](Napi::Env env, const FileSizes& sizes) {
    return Napi::Value(to_typed_array(env, to_vector(sizes)));
  });
}

Napi::Value encode_file_list(const Napi::CallbackInfo& info) {
  const FileColumns files = to_files(info[0].As<Napi::Object>());
  const Padding padding = to_padding(info[1]);
  const auto make = [=](const std::atomic<bool>& cancelled) {
    return encode_file_list(files, padding, cancelled);
  };
  return start_task<ByteArray>(info.Env(), make, bytes_to_buffer);
}

Napi::Value encode_file_tree(const Napi::CallbackInfo& info) {
  const FileColumns files = to_files(info[0].As<Napi::Object>());
  const auto roots = to_array<std::uint8_t>(info[1], "roots");
  if (roots.ByteLength() != files.count * 32)
    throw Napi::RangeError::New(info.Env(), "there must be a root for each file");
  const auto make = [files, column = to_column(roots)](const std::atomic<bool>& cancelled) {
    return encode_file_tree(files, column.get(), cancelled);
  };
  return start_task<ByteArray>(info.Env(), make, bytes_to_buffer);
}

// Runs while the caller waits: JavaScript would take several times as long for the same.
Napi::Value decode_files(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto bytes = to_array<std::uint8_t>(info[0], "bytes");
  const auto at = static_cast<std::size_t>(info[1].As<Napi::Number>().Int64Value());
  const std::string_view text(reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength());
  std::optional<DecodedFiles> files = metainfo::decode_files(text, at);
  if (!files) return env.Null();
  Napi::Object result = Napi::Object::New(env);
  const auto set = [&](const char* key, std::size_t value) { result.Set(key, static_cast<double>(value)); };
  set("end", files->end);
  set("count", files->count);
  set("items", files->items);
  set("longest", files->longest);
  set("depth", files->depth);
  set("pathUnits", files->path_units);
  result.Set("hasAttributes", files->attributes);
  result.Set("hasNumberedPads", files->numbered_pads);
  result.Set("hasPlainPads", files->plain_pads);
  result.Set("paths", to_path_column(env, std::move(files->paths)));
  result.Set("lengths", to_typed_array(env, std::move(files->lengths)));
  result.Set("entryLengths", to_typed_array(env, std::move(files->entry_lengths)));
  result.Set("entryFiles", to_typed_array(env, std::move(files->entry_files)));
  result.Set("roots", to_buffer(env, std::move(files->roots)));
  return result;
}

// Calls a function that starts a task. If there is no memory to start it, its promise rejects.
template <Napi::Value (*start)(const Napi::CallbackInfo&)>
Napi::Value start_or_reject(const Napi::CallbackInfo& info) {
  try {
    return start(info);
  } catch (const std::bad_alloc&) {
    const auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Reject(to_error(info.Env(), {Failure::Code::no_memory, 0, {}, {}}).Value());
    return deferred.Promise();
  }
}

Napi::Value decode_files_or_null(const Napi::CallbackInfo& info) {
  try {
    return decode_files(info);
  } catch (const std::bad_alloc&) {
    return info.Env().Null();
  }
}

template <Napi::Value (*start)(const Napi::CallbackInfo&)>
void define(Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<start_or_reject<start>>(exports.Env(), name));
}

}  // namespace

void define_file_table(Napi::Object exports) {
  define<sort_files>(exports, "sortFiles");
  define<match_paths>(exports, "matchPaths");
  define<measure_files>(exports, "measureFiles");
  define<encode_file_list>(exports, "encodeFileList");
  define<encode_file_tree>(exports, "encodeFileTree");
  exports.Set("decodeFiles", Napi::Function::New<decode_files_or_null>(exports.Env(), "decodeFiles"));
}

}  // namespace metainfo
