// The files of a torrent in packed columns: the FileColumns of src/layout/file-table.ts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace metainfo {

// The start of the names of pad files that BitComet wrote, without an attribute: BITCOMET_PAD in
// src/layout/padding.ts.
constexpr std::string_view kBitCometPad = "_____padding_file_";

// The bytes of the root of a file in v2.
constexpr std::size_t kRootBytes = 32;

// Values of many files. Jobs share the ownership, so that they can read them whatever happens to JavaScript.
template <typename T>
using Column = std::shared_ptr<const T[]>;

// Paths: UTF-8, one directly after the other, with a zero byte between the components of a path.
struct PathColumn {
  Column<char> bytes;
  Column<std::uint32_t> ends;

  std::string_view at(std::size_t index) const {
    const std::uint32_t first = index == 0 ? 0 : ends.get()[index - 1];
    return {bytes.get() + first, ends.get()[index] - first};
  }
};

// Files: their paths in the torrent, and their bytes.
struct FileColumns {
  std::size_t count = 0;
  PathColumn paths;
  Column<double> lengths;
};

// Properties of all files: the TableFacts of src/layout/file-table.ts.
struct FileFacts {
  double total_length = 0;  // a file of unknown length counts as empty
  bool names_like_pads = false;
};

FileFacts facts_of(const FileColumns& files);

// Bytes of known size that are not cleared before they are written.
struct ByteArray {
  explicit ByteArray(std::size_t size_) : data(new std::uint8_t[size_]), size(size_) {}
  std::unique_ptr<std::uint8_t[]> data;
  std::size_t size;
};

// Paths that own their bytes.
struct PathArray {
  std::vector<char> bytes;
  std::vector<std::uint32_t> ends;
};

// Columns of files that own their memory.
struct FileArrays {
  PathArray paths;
  PathArray disk_paths;  // from the root on disk; empty if every file is at its path
  std::vector<double> lengths;
  std::vector<double> mtimes;  // milliseconds since 1970
  std::vector<double> ctimes;
};

// Where `path` is on disk, below the absolute path `root`. No components stand for the root itself.
std::string disk_path(const std::string& root, std::string_view path);

// The same column in another order.
PathArray reordered(const PathColumn& paths, const std::vector<std::uint32_t>& order);
std::vector<double> reordered(const Column<double>& numbers, const std::vector<std::uint32_t>& order);

}  // namespace metainfo
