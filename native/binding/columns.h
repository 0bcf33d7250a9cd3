// The columns of a file table from and to JavaScript: FileColumns of src/layout/file-table.ts.
#pragma once

#include <napi.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "core/table/file_columns.h"

namespace metainfo {

// All of these share or copy the memory of JavaScript: see to_column(). They throw std::bad_alloc, and
// Napi::Error for arrays of wrong types, lengths or values, so that no task reads outside of them; `count`
// is the number of files.
std::size_t count_files(const Napi::Object& columns);
PathColumn to_paths(const Napi::Object& paths, std::size_t count);
// A column of any length, and that length.
std::pair<PathColumn, std::size_t> to_paths(const Napi::Object& paths);
std::optional<PathColumn> to_paths_or_none(const Napi::Value& paths_or_null, std::size_t count);
Column<double> to_numbers(const Napi::Object& columns, const char* key, std::size_t count);
// Files whose lengths are known, or may be NaN.
enum class Lengths { known, any };
FileColumns to_files(const Napi::Object& columns, Lengths lengths = Lengths::known);

// The memory of the columns is moved, or copied if the runtime allows no external buffers.
Napi::Object to_path_column(Napi::Env env, PathArray paths);
Napi::Object to_columns(Napi::Env env, FileArrays files);

}  // namespace metainfo
