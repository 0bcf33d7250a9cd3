// System calls on files that the reader and the scan share, for Linux and macOS.
#pragma once

#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <optional>

#include "core/files/reader.h"

namespace metainfo {

// How a file is opened to be read. O_NONBLOCK: if a FIFO has taken the place of the file since the scan,
// opening it must not block.
constexpr int kOpenFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// How a folder is opened to open what is in it.
#ifdef O_PATH
constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;  // O_PATH: the folder need not be readable
#else
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif

// Makes a call that returns a negative number and sets errno again if a signal interrupted it.
template <typename Call>
auto retrying(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Opens a path, relative to the folder `start`, and follows no symbolic link, in no component. Returns -1 and
// sets errno, to ELOOP if there is one (without openat2 or O_NOFOLLOW_ANY, to ENOTDIR if a folder is one).
int open_without_links(const char* path, int flags, int start = AT_FDCWD);

// Closes a file or folder that was opened.
struct OpenFile {
  ~OpenFile();
  const int descriptor;  // negative for none
};

// Reads a regular file of at most `max` bytes, relative to the folder `start`. Links are followed for a path
// that is `free`. Empty for any other file, after an error, and if the file changed meanwhile.
std::optional<ShortFile> read_short_at(int start, const char* path, bool free, std::size_t max);

double mtime_ms(const struct stat& status);
FileStatus to_file_status(const struct stat& status);

}  // namespace metainfo

#endif
