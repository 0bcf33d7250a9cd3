// Reads the content of one request file, and detects that the file on disk has changed since it was
// requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/hash/hash_request.h"
#include "core/threads/worker_thread.h"

namespace metainfo {

// The folder that the files of a request are below, opened once: the system then looks up fewer components
// for each file. It is the requested folder, even if its path leads elsewhere later.
class RootFolder {
 public:
  // Throws Failure. System calls go through `thread`, if it is given.
  explicit RootFolder(const std::string& path, WorkerThread* thread = nullptr);
  ~RootFolder();
  RootFolder(const RootFolder&) = delete;
  RootFolder& operator=(const RootFolder&) = delete;

  std::intptr_t descriptor() const { return descriptor_; }

 private:
  WorkerThread* const thread_;
  std::intptr_t descriptor_ = -1;
};

class Reader {
 public:
  // Opens the file. It follows no symbolic link, in no component of the path. Throws Failure. If `thread` is
  // given, system calls go through it: then all members except the destructor also throw
  // WorkerThread::Stopped. A file below the root of the request is opened relative to `root`, if that is
  // given.
  explicit Reader(RequestedFile file, WorkerThread* thread = nullptr, const RootFolder* root = nullptr);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads exactly `size` bytes at `offset` of the content. Throws Failure; a short read is continued.
  void read(std::uint64_t offset, std::uint8_t* out, std::size_t size) const;

  // Tells the system that these bytes will be read soon, so that it can prefetch them.
  void will_need(std::uint64_t offset, std::uint64_t size) const;

  // Throws a Failure if the file has changed since it was requested.
  void check_unchanged() const;

 private:
  struct Status {
    bool is_regular = false;
    bool is_deleted = false;
    std::uint64_t size = 0;
    double mtime_ms = 0;
  };

  // Implemented in reader_posix.cc and reader_win32.cc. All except close() throw Failure.
  void open(const RootFolder* root);
  Status status() const;
  // Returns the number of bytes read; 0 at the end of the file.
  std::size_t read_some(std::uint64_t at, std::uint8_t* out, std::size_t size) const;
  void close();

  template <typename Call>
  void call_system(Call call) const {
    if (thread_ != nullptr) {
      thread_->call(call);
    } else {
      call();
    }
  }
  void close_file() noexcept;
  void require_unchanged(const Status& now) const;
  void advise(std::uint64_t offset, std::uint64_t size) const;

  const RequestedFile file_;
  WorkerThread* const thread_;
  static constexpr std::intptr_t kNone = -1;
  std::intptr_t descriptor_ = kNone;  // a HANDLE on Windows; kNone for content in memory
};

// The result of stat(2) in the units of Node's fs.Stats; on Windows, the values that Node computes.
struct FileStatus {
  int error = 0;  // errno; after an error, all other members are 0
  double mode = 0;
  double size = 0;
  double mtime_ms = 0;
  double ctime_ms = 0;  // the last change of content or metadata: no program can set it back
  double device = 0;
  double inode = 0;
  // Nanoseconds within the second of each time: a double of milliseconds holds only some of them.
  double mtime_ns = 0;
  double ctime_ns = 0;
};
FileStatus file_status(const char* path);

// A whole file in memory.
struct ShortFile {
  FileStatus status;
  std::vector<std::uint8_t> bytes;
};

// Where a short file is.
struct ShortPath {
  std::string root;  // links in it are followed; empty for none
  std::string path;  // with a root: relative to it, without `..`, and its links are not followed
};

// Reads a regular file of at most `max` bytes. Empty for any other file, after an error, and if the file
// changed meanwhile. Not on Windows. Throws std::bad_alloc.
std::optional<ShortFile> read_short_file(const ShortPath& where, std::size_t max);

// The path without links; empty after an error. Not on Windows.
std::string real_path(const std::string& path);

}  // namespace metainfo
