// The input of a hash job and its results. src/hash/hash-request.ts has the same structures and validates
// every value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/table/file_columns.h"

namespace metainfo {

enum class Version { v1, v2, hybrid };

struct RequestedFile {
  // The path in the system's encoding, without symbolic links. Empty for pad files and content in memory.
  std::string path;
  // Where the part below the root of the request begins in the path; 0: the path is not below it.
  std::size_t below_root = 0;
  // Content in memory, which must not change or move until the job has settled.
  const std::uint8_t* data = nullptr;
  bool pad = false;          // a pad file: zeros that are read from nowhere
  std::uint64_t offset = 0;  // where the content starts in the file on disk
  std::uint64_t length = 0;  // bytes of content
  std::uint64_t size = 0;    // the expected size of the whole file
  double mtime_ms = 0;       // the expected mtime, as in Node's fs.Stats.mtimeMs; NaN: not checked
};

// Ranges of files, and pad files.
struct FileRanges {
  static constexpr std::uint32_t kPad = 0xffffffff;

  std::size_t count = 0;
  Column<std::uint32_t> files;  // indexes in the columns, or kPad
  Column<double> offsets;       // where each range starts in its file
  Column<double> lengths;
};

// The files of a request as columns: files on disk below a folder.
struct DiskColumns {
  std::string root;  // the real path of the folder, or of the only file, which has no components then
  FileColumns files;
  Column<double> mtimes_ms;
  std::optional<FileRanges> ranges;  // the content of the request; without them, all of every file
};

struct HashRequest {
  // The files, unless `columns` has them.
  std::vector<RequestedFile> files;
  std::optional<DiskColumns> columns;

  std::size_t count() const {
    if (!columns) return files.size();
    return columns->ranges ? columns->ranges->count : columns->files.count;
  }
  std::uint64_t length(std::size_t i) const {
    if (!columns) return files[i].length;
    const Column<double>& lengths = columns->ranges ? columns->ranges->lengths : columns->files.lengths;
    return static_cast<std::uint64_t>(lengths.get()[i]);
  }
  bool is_pad(std::size_t i) const {
    if (!columns) return files[i].pad;
    return columns->ranges && columns->ranges->files.get()[i] == FileRanges::kPad;
  }
  std::string path(std::size_t i) const;
  RequestedFile file(std::size_t i) const;

  // How many files, from the first on, have their last v1 piece filled up with zeros.
  std::size_t padded_files = 0;
  // The zeros after a file.
  std::uint64_t padding(std::size_t i) const {
    return i < padded_files ? (piece_length - length(i) % piece_length) % piece_length : 0;
  }

  Version version = Version::v1;
  std::uint64_t piece_length = 0;
  bool mark_missing = false;  // list files that do not exist in `missing` instead of failing
  unsigned threads = 1;
  std::size_t read_size = 0;     // bytes of one read at most: a multiple of 16 KiB
  std::size_t memory_limit = 0;  // bytes of all buffers; each worker has at least one of read_size
};

struct Digests {
  std::vector<std::uint8_t> v1;      // 20 bytes per piece; zeros where a missing file overlaps
  std::vector<std::uint8_t> roots;   // 32 bytes per file; zeros for pad files, empty and missing files
  std::vector<std::uint8_t> layers;  // 32 bytes per piece of every file longer than a piece, in file order
  std::vector<std::uint32_t> missing;
};

// The reason why a job failed. It is thrown inside native/core; native/binding/errors.cc makes a JavaScript
// error from it.
struct Failure {
  enum class Code { open, read, changed, not_a_file, no_memory, no_thread, aborted, internal };
  Code code = Code::internal;
  int error = 0;  // errno, if the system gave one
  std::string path;
  std::string detail;
};

}  // namespace metainfo
