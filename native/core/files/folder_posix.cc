// Folder for Linux and macOS.
#ifndef _WIN32

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "core/files/files_posix.h"
#include "core/files/folder.h"

namespace metainfo {
namespace {

DIR* dir_of(void* handle) { return static_cast<DIR*>(handle); }

std::uint32_t type_of(const dirent& entry) {
  if (entry.d_type == DT_DIR) return kFolderType;
  return entry.d_type == DT_LNK ? kLinkType : 0;
}

bool is_itself_or_parent(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

}  // namespace

Folder::~Folder() {
  if (handle_ != nullptr) ::closedir(dir_of(handle_));
}

int Folder::open() {
  const int descriptor = open_without_links(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  handle_ = ::fdopendir(descriptor);
  if (handle_ != nullptr) return 0;
  const int error = errno;
  ::close(descriptor);
  return error;
}

int Folder::list(std::size_t most, FolderNames& names, bool& ended) {
  while (names.count() < most) {
    errno = 0;
    // One thread at a time reads a DIR. NOLINTNEXTLINE(concurrency-mt-unsafe)
    const dirent* const entry = ::readdir(dir_of(handle_));
    if (entry == nullptr && errno == EINTR) continue;
    ended = entry == nullptr;
    if (ended) return errno;
    if (!is_itself_or_parent(entry->d_name))
      names.add(entry->d_name, std::strlen(entry->d_name), type_of(*entry));
  }
  return 0;
}

FileStatus Folder::status(const char* name) const {
  // No call could open the file by its path.
  if (path_.size() + 1 + std::strlen(name) >= PATH_MAX) return {ENAMETOOLONG};
  struct stat status;
  const int folder = ::dirfd(dir_of(handle_));
  if (retrying([&] { return ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW); }) != 0) return {errno};
  return to_file_status(status);
}

std::optional<ShortFile> Folder::read(const char* name, std::size_t max) const {
  return read_short_at(::dirfd(dir_of(handle_)), name, false, max);
}

int Folder::reading_error(const char* name) const {
  const int folder = ::dirfd(dir_of(handle_));
  if (::faccessat(folder, name, R_OK, 0) == 0) return 0;
  // access(2) ignores effective users and capabilities: try to open the file.
  const int file = retrying([&] { return ::openat(folder, name, kOpenFile | O_NOFOLLOW); });
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

}  // namespace metainfo

#endif
