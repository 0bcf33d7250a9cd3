// Opens paths without following symbolic links, and converts what stat(2) gives.
#ifndef _WIN32

#include "core/files/files_posix.h"

#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace metainfo {
namespace {

// Uses the same arithmetic as Node's fs.Stats.mtimeMs, so that an unchanged file gives an equal double.
double milliseconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

#ifdef __APPLE__
const timespec& mtime(const struct stat& status) { return status.st_mtimespec; }
const timespec& ctime(const struct stat& status) { return status.st_ctimespec; }
#else
const timespec& mtime(const struct stat& status) { return status.st_mtim; }
const timespec& ctime(const struct stat& status) { return status.st_ctim; }
#endif

// Opens folder after folder, each relative to the one before, without following symbolic links.
int open_stepwise(const std::string& path, int flags, int start) {
  if (path.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::size_t at = path.find_first_not_of('/');
  if (at == std::string::npos) return retrying([&] { return ::openat(start, path.c_str(), flags); });
  int folder = retrying([&] { return ::openat(start, path[0] == '/' ? "/" : ".", kFolder); });
  while (folder >= 0) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = path.find_first_not_of('/', end);
    const bool last = at == std::string::npos;
    const int step_flags = (last ? flags : kFolder) | O_NOFOLLOW;
    const int next = retrying([&] { return ::openat(folder, name.c_str(), step_flags); });
    const int error = errno;
    ::close(folder);
    errno = error;
    if (last) return next;
    folder = next;
  }
  return -1;
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor >= 0) ::close(descriptor);
}

// In one call where the system has one for that.
int open_without_links(const char* path, int flags, int start) {
#ifdef O_NOFOLLOW_ANY
  return retrying([&] { return ::openat(start, path, flags | O_NOFOLLOW_ANY); });
#else
#ifdef __linux__
  // openat2() of Linux 5.6, by number because the headers may be older than the kernel.
  constexpr long kOpenat2 = 437;
  constexpr std::uint64_t kNoSymlinks = 4;
  const std::uint64_t how[] = {static_cast<std::uint64_t>(flags), 0, kNoSymlinks};
  const int descriptor =
      retrying([&] { return static_cast<int>(::syscall(kOpenat2, start, path, how, sizeof how)); });
  // Containers whose seccomp filter does not know the call answer EPERM.
  if (descriptor >= 0 || (errno != ENOSYS && errno != EPERM)) return descriptor;
#endif
  return open_stepwise(path, flags, start);
#endif
}

std::optional<ShortFile> read_short_at(int start, const char* path, bool free, std::size_t max) {
  struct stat before;
  // Opening a FIFO or a device may do something, and opening a large file takes time.
  const auto is_short = [&] {
    return S_ISREG(before.st_mode) && static_cast<std::uint64_t>(before.st_size) <= max;
  };
  const int status_flags = free ? 0 : AT_SYMLINK_NOFOLLOW;
  if (retrying([&] { return ::fstatat(start, path, &before, status_flags); }) != 0 || !is_short()) return {};
  const OpenFile file{free ? retrying([&] { return ::open(path, kOpenFile); })
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

double mtime_ms(const struct stat& status) { return milliseconds(mtime(status)); }

FileStatus to_file_status(const struct stat& status) {
  return {0,
          static_cast<double>(status.st_mode),
          static_cast<double>(status.st_size),
          milliseconds(mtime(status)),
          milliseconds(ctime(status)),
          static_cast<double>(status.st_dev),
          static_cast<double>(status.st_ino),
          static_cast<double>(mtime(status).tv_nsec),
          static_cast<double>(ctime(status).tv_nsec)};
}

}  // namespace metainfo

#endif
