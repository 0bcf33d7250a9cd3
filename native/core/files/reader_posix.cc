// Reader and file_status() for Linux and macOS.
#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>
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
  if (where.root.empty()) return read_short_at(AT_FDCWD, where.path.c_str(), true, max);
  const OpenFile root{retrying([&] { return ::open(where.root.c_str(), kFolder); })};
  if (root.descriptor < 0) return {};
  return read_short_at(root.descriptor, where.path.c_str(), false, max);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : "";
}

}  // namespace metainfo

#endif
