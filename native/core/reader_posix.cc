#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "core/reader.h"

namespace metainfo {
namespace {

struct stat status_of(int descriptor, const PlanFile& file) {
  struct stat status;
  // A network's file system may be interrupted here too.
  while (::fstat(descriptor, &status) != 0) {
    if (errno != EINTR) throw Failure{Failure::Code::read, errno, file.path, {}};
  }
  return status;
}

// The same arithmetic as Node's fs.Stats.mtimeMs, so that an unchanged file gives an equal double.
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

void require_as_planned(const struct stat& status, const PlanFile& file) {
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size != file.size) {
    throw Failure{
        Failure::Code::changed, 0, file.path,
        "its size went from " + std::to_string(file.size) + " to " + std::to_string(size) + " bytes"};
  }
  if (status.st_nlink == 0) throw Failure{Failure::Code::changed, 0, file.path, "it was deleted or replaced"};
  if (!std::isnan(file.mtime_ms) && mtime_ms(status) != file.mtime_ms) {
    throw Failure{Failure::Code::changed, 0, file.path, "its modification time changed"};
  }
}

// O_NONBLOCK: a FIFO put in the file's place since the scan must not hang the job.
constexpr int kFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

template <typename Open>
int retrying(Open open) {
  for (;;) {
    const int descriptor = open();
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

// Opens folder by folder, each from the one before it. Links are not followed: the path has none, unless
// somebody put it there since the scan, and then it may lead anywhere.
int open_stepwise(const std::string& path) {
#ifdef O_PATH
  constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;  // it need not be readable
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

// The same in one call, where the system has it.
int open_without_links(const std::string& path) {
#ifdef O_NOFOLLOW_ANY
  return retrying([&] { return ::open(path.c_str(), kFile | O_NOFOLLOW_ANY); });
#else
#ifdef __linux__
  // Of Linux 5.6: the headers may be older than the system.
  constexpr long kOpenat2 = 437;
  constexpr std::uint64_t kNoSymlinks = 4;
  const std::uint64_t how[] = {kFile, 0, kNoSymlinks};
  const int descriptor = retrying(
      [&] { return static_cast<int>(::syscall(kOpenat2, AT_FDCWD, path.c_str(), how, sizeof how)); });
  // EPERM is what containers say that do not know it.
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM)) return descriptor;
#endif
  return open_stepwise(path);
#endif
}

Failure open_failure(int error, const PlanFile& file) {
  if (error == ELOOP) return {Failure::Code::changed, 0, file.path, "there is a symbolic link in its path"};
  // ENXIO is what open() says of a socket.
  return {error == ENXIO ? Failure::Code::not_a_file : Failure::Code::open, error, file.path, {}};
}

}  // namespace

Reader::Reader(const PlanFile& file) : file_(file) {
  if (file.data != nullptr) return;
  descriptor_ = open_without_links(file.path);
  if (descriptor_ < 0) throw open_failure(errno, file);
  try {
    const struct stat status = status_of(descriptor_, file);
    if (!S_ISREG(status.st_mode)) throw Failure{Failure::Code::not_a_file, 0, file.path, {}};
    require_as_planned(status, file);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Reader::~Reader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Reader::read(std::uint64_t offset, std::uint8_t* out, std::size_t size) const {
  if (file_.data != nullptr) {
    std::copy_n(file_.data + file_.offset + offset, size, out);
    return;
  }
  while (size != 0) {
    const ssize_t count = ::pread(descriptor_, out, size, static_cast<off_t>(file_.offset + offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Failure{Failure::Code::read, errno, file_.path, {}};
    if (count == 0) {
      throw Failure{
          Failure::Code::changed, 0, file_.path,
          "it ended at byte " + std::to_string(file_.offset + offset) + " of " + std::to_string(file_.size)};
    }
    out += count;
    size -= static_cast<std::size_t>(count);
    offset += static_cast<std::uint64_t>(count);
  }
}

void Reader::will_need(std::uint64_t offset, std::uint64_t size) const {
  if (descriptor_ < 0) return;
  const auto start = static_cast<off_t>(file_.offset + offset);
#ifdef __APPLE__
  radvisory advice{start, static_cast<int>(std::min<std::uint64_t>(size, std::numeric_limits<int>::max()))};
  ::fcntl(descriptor_, F_RDADVISE, &advice);
#else
  // It fetches no more at once than the device's readahead: often 128 KiB.
  constexpr off_t kStep = 128 << 10;
  const off_t end = start + static_cast<off_t>(size);
  for (off_t at = start; at < end; at += kStep)
    ::posix_fadvise(descriptor_, at, std::min(kStep, end - at), POSIX_FADV_WILLNEED);
#endif
}

void Reader::check_unchanged() const {
  if (descriptor_ >= 0) require_as_planned(status_of(descriptor_, file_), file_);
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
