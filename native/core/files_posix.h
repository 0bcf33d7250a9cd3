// System calls on files that the reader and the scan share, for Linux and macOS.
#pragma once

#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "core/reader.h"

namespace metainfo {

// How a file is opened to be read. O_NONBLOCK: if a FIFO has taken the place of the file since the scan,
// opening it must not block.
constexpr int kOpenFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Makes a call that returns a negative number and sets errno again if a signal interrupted it.
template <typename Call>
auto retrying(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Opens a path and follows no symbolic link, in no component. Returns -1 and sets errno, to ELOOP if there
// is one (without openat2 or O_NOFOLLOW_ANY, to ENOTDIR if a folder is one).
int open_without_links(const std::string& path, int flags);

double mtime_ms(const struct stat& status);
FileStatus to_file_status(const struct stat& status);

}  // namespace metainfo

#endif
