// Reader and file_status() for Linux and macOS.
#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/reader.h"

namespace metainfo {
namespace {

// Uses the same arithmetic as Node's fs.Stats.mtimeMs, so that an unchanged file gives an equal double.
double milliseconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

#ifdef __APPLE__
double mtime_ms(const struct stat& status) { return milliseconds(status.st_mtimespec); }
double ctime_ms(const struct stat& status) { return milliseconds(status.st_ctimespec); }
#else
double mtime_ms(const struct stat& status) { return milliseconds(status.st_mtim); }
double ctime_ms(const struct stat& status) { return milliseconds(status.st_ctim); }
#endif

// O_NONBLOCK: if a FIFO has taken the place of the file since the scan, opening it must not block.
constexpr int kFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

template <typename Open>
int retrying(Open open) {
  for (;;) {
    const int descriptor = open();
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

// Opens folder after folder, each relative to the one before, without following symbolic links. The planned
// path has none: a link was put there after the scan, and may lead anywhere.
int open_stepwise(const std::string& path) {
#ifdef O_PATH
  constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;  // O_PATH: the folder need not be readable
#else
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif
  int folder = retrying([&] { return ::open(path[0] == '/' ? "/" : ".", kFolder); });
  for (std::size_t at = path.find_first_not_of('/'); folder >= 0;) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(std::min(at, end), end - std::min(at, end));
    at = path.find_first_not_of('/', end);
    const bool last = at == std::string::npos;
    const int flags = (last ? kFile : kFolder) | O_NOFOLLOW;
    const int next = retrying([&] { return ::openat(folder, name.c_str(), flags); });
    const int error = errno;
    ::close(folder);
    errno = error;
    if (last) return next;
    folder = next;
  }
  return -1;
}

// Opens a path without following symbolic links, in one call where the system has one for that.
int open_without_links(const std::string& path) {
#ifdef O_NOFOLLOW_ANY
  return retrying([&] { return ::open(path.c_str(), kFile | O_NOFOLLOW_ANY); });
#else
#ifdef __linux__
  // openat2() of Linux 5.6, by number because the headers may be older than the kernel.
  constexpr long kOpenat2 = 437;
  constexpr std::uint64_t kNoSymlinks = 4;
  const std::uint64_t how[] = {kFile, 0, kNoSymlinks};
  const int descriptor = retrying(
      [&] { return static_cast<int>(::syscall(kOpenat2, AT_FDCWD, path.c_str(), how, sizeof how)); });
  // Containers whose seccomp filter does not know the call answer EPERM.
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM)) return descriptor;
#endif
  return open_stepwise(path);
#endif
}

Failure open_failure(int error, const PlanFile& file) {
  if (error == ELOOP) return {Failure::Code::changed, 0, file.path, "there is a symbolic link in its path"};
  // open() answers ENXIO for a socket.
  return {error == ENXIO ? Failure::Code::not_a_file : Failure::Code::open, error, file.path, {}};
}

}  // namespace

void Reader::open() {
  descriptor_ = open_without_links(file_.path);
  if (descriptor_ == kNone) throw open_failure(errno, file_);
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
  return {0,
          static_cast<double>(status.st_mode),
          static_cast<double>(status.st_size),
          mtime_ms(status),
          ctime_ms(status),
          static_cast<double>(status.st_dev),
          static_cast<double>(status.st_ino)};
}

}  // namespace metainfo

#endif
