// Reader and file_status() for Linux and macOS.
#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "core/files/files_posix.h"
#include "core/files/reader.h"

namespace metainfo {
namespace {

Failure open_failure(int error, const std::string& path) {
  if (error == ELOOP) return {Failure::Code::changed, 0, path, "there is a symbolic link in its path"};
  // open() answers ENXIO for a socket.
  return {error == ENXIO ? Failure::Code::not_a_file : Failure::Code::open, error, path, {}};
}

}  // namespace

RootFolder::RootFolder(const std::string& path, WorkerThread* thread) : thread_(thread) {
  const auto open = [&] {
    descriptor_ = open_without_links(path.c_str(), kFolder);
    if (descriptor_ < 0) throw open_failure(errno, path);
  };
  try {
    thread == nullptr ? open() : thread->call(open);
  } catch (...) {
    // If the thread was given up while it opened the folder, the folder is open.
    if (descriptor_ >= 0) ::close(static_cast<int>(descriptor_));
    throw;
  }
}

RootFolder::~RootFolder() {
  const auto close = [this] { ::close(static_cast<int>(descriptor_)); };
  thread_ == nullptr ? close() : thread_->must_call(close);
}

void Reader::open(const RootFolder* root) {
  const bool relative = root != nullptr && file_.below_root != 0;
  const int start = relative ? static_cast<int>(root->descriptor()) : AT_FDCWD;
  // The requested path has no links: one was put there after the scan, and may lead anywhere.
  descriptor_ = open_without_links(file_.path.c_str() + (relative ? file_.below_root : 0), kOpenFile, start);
  if (descriptor_ == kNone) throw open_failure(errno, file_.path);
}

void Reader::close() { ::close(static_cast<int>(descriptor_)); }

Reader::Status Reader::status() const {
  struct stat status;
  // fstat() on a network file system may be interrupted too.
  while (::fstat(static_cast<int>(descriptor_), &status) != 0) {
    if (errno != EINTR) throw Failure{Failure::Code::read, errno, file_.path, {}};
  }
  return {S_ISREG(status.st_mode), status.st_nlink == 0, static_cast<std::uint64_t>(status.st_size),
          mtime_ms(status)};
}

std::size_t Reader::read_some(std::uint64_t at, std::uint8_t* out, std::size_t size) const {
  for (;;) {
    const ssize_t count = ::pread(static_cast<int>(descriptor_), out, size, static_cast<off_t>(at));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw Failure{Failure::Code::read, errno, file_.path, {}};
  }
}

void Reader::advise(std::uint64_t offset, std::uint64_t size) const {
  const int descriptor = static_cast<int>(descriptor_);
  const auto start = static_cast<off_t>(file_.offset + offset);
#ifdef __APPLE__
  radvisory advice{start, static_cast<int>(std::min<std::uint64_t>(size, std::numeric_limits<int>::max()))};
  ::fcntl(descriptor, F_RDADVISE, &advice);
#else
  // One call prefetches no more than the readahead of the device, which is often 128 KiB.
  constexpr off_t kStep = 128 << 10;
  const off_t end = start + static_cast<off_t>(size);
  for (off_t at = start; at < end; at += kStep)
    ::posix_fadvise(descriptor, at, std::min(kStep, end - at), POSIX_FADV_WILLNEED);
#endif
}

FileStatus file_status(const char* path) {
  struct stat status;
  while (::stat(path, &status) != 0) {
    if (errno != EINTR) return {errno};
  }
  return to_file_status(status);
}

std::optional<ShortFile> read_short_file(const ShortPath& where, std::size_t max) {
  struct File {
    ~File() {
      if (descriptor >= 0) ::close(descriptor);
    }
    const int descriptor;
  };
  const char* const path = where.path.c_str();
  const bool is_free = where.root.empty();
  const File root{is_free ? -1 : retrying([&] { return ::open(where.root.c_str(), kFolder); })};
  if (!is_free && root.descriptor < 0) return {};
  const int start = is_free ? AT_FDCWD : root.descriptor;
  struct stat before;
  // Opening a FIFO or a device may do something, and opening a large file takes time.
  const auto is_short = [&] {
    return S_ISREG(before.st_mode) && before.st_size > 0 && static_cast<std::uint64_t>(before.st_size) <= max;
  };
  const int status_flags = is_free ? 0 : AT_SYMLINK_NOFOLLOW;
  if (retrying([&] { return ::fstatat(start, path, &before, status_flags); }) != 0 || !is_short()) return {};
  const File file{is_free ? retrying([&] { return ::open(path, kOpenFile); })
                          : open_without_links(path, kOpenFile, start)};
  if (file.descriptor < 0 || retrying([&] { return ::fstat(file.descriptor, &before); }) < 0) return {};
  if (!is_short()) return {};
  const auto size = static_cast<std::uint64_t>(before.st_size);
  // One byte more shows that the file has grown.
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size) + 1);
  std::size_t filled = 0;
  for (ssize_t count = 1; count > 0 && filled < bytes.size(); filled += static_cast<std::size_t>(count)) {
    count = retrying([&] { return ::read(file.descriptor, &bytes[filled], bytes.size() - filled); });
    if (count < 0) return {};
  }
  struct stat after;
  if (filled != size || retrying([&] { return ::fstat(file.descriptor, &after); }) < 0) return {};
  if (after.st_size != before.st_size || mtime_ms(after) != mtime_ms(before)) return {};
  bytes.pop_back();
  return ShortFile{to_file_status(before), std::move(bytes)};
}

}  // namespace metainfo

#endif
