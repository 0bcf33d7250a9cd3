// Reader and file_status() for Windows.
#ifdef _WIN32

#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "core/files/files_win32.h"
#include "core/files/reader.h"

namespace metainfo {
namespace {

HANDLE handle_of(std::intptr_t descriptor) { return reinterpret_cast<HANDLE>(descriptor); }

}  // namespace

// Files are opened by their whole paths.
RootFolder::RootFolder(const std::string&, WorkerThread* thread) : thread_(thread) {}

RootFolder::~RootFolder() { static_cast<void>(thread_); }

void Reader::open(const RootFolder*) {
  descriptor_ = reinterpret_cast<std::intptr_t>(open_shared(file_.path, GENERIC_READ));
  if (descriptor_ == kNone) throw Failure{Failure::Code::open, errno_of(::GetLastError()), file_.path, {}};
}

void Reader::close() { ::CloseHandle(handle_of(descriptor_)); }

Reader::Status Reader::status() const {
  const HANDLE handle = handle_of(descriptor_);
  if (::GetFileType(handle) != FILE_TYPE_DISK) return {};
  BY_HANDLE_FILE_INFORMATION info;
  FILE_STANDARD_INFO standard;
  if (!::GetFileInformationByHandle(handle, &info) ||
      !::GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard))
    throw Failure{Failure::Code::read, errno_of(::GetLastError()), file_.path, {}};
  const std::uint64_t written = join(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime);
  return {(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0,
          standard.DeletePending || info.nNumberOfLinks == 0, join(info.nFileSizeHigh, info.nFileSizeLow),
          milliseconds(static_cast<std::int64_t>(written))};
}

std::size_t Reader::read_some(std::uint64_t at, std::uint8_t* out, std::size_t size) const {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(at);
  place.OffsetHigh = static_cast<DWORD>(at >> 32);
  DWORD count = 0;
  const DWORD most = static_cast<DWORD>(std::min<std::size_t>(size, 1 << 30));
  if (::ReadFile(handle_of(descriptor_), out, most, &count, &place)) return count;
  const DWORD error = ::GetLastError();
  if (error == ERROR_HANDLE_EOF) return 0;
  throw Failure{Failure::Code::read, errno_of(error), file_.path, {}};
}

// Windows has no call for this that does not block.
void Reader::advise(std::uint64_t, std::uint64_t) const {}

FileStatus file_status(const char* path) {
  const HANDLE handle = open_shared(path, FILE_READ_ATTRIBUTES);
  if (handle == INVALID_HANDLE_VALUE) return {errno_of(::GetLastError())};
  FileStatus status;
  BY_HANDLE_FILE_INFORMATION info;
  FILE_BASIC_INFO basic;
  if (::GetFileType(handle) != FILE_TYPE_DISK) {
    status.mode = S_IFCHR;
  } else if (!::GetFileInformationByHandle(handle, &info) ||
             !::GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic)) {
    status.error = errno_of(::GetLastError());
  } else {
    // As in Node, the mode shows only whether the file is read-only.
    const bool is_folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    const bool is_read_only = (info.dwFileAttributes & FILE_ATTRIBUTE_READONLY) != 0;
    status.mode = (is_folder ? S_IFDIR : S_IFREG) | (is_read_only ? 0444 : 0666);
    status.size = is_folder ? 0 : static_cast<double>(join(info.nFileSizeHigh, info.nFileSizeLow));
    status.mtime_ms = milliseconds(basic.LastWriteTime.QuadPart);
    status.ctime_ms = milliseconds(basic.ChangeTime.QuadPart);
    status.device = info.dwVolumeSerialNumber;
    status.inode = static_cast<double>(join(info.nFileIndexHigh, info.nFileIndexLow));
    status.mtime_ns = nanoseconds(basic.LastWriteTime.QuadPart);
    status.ctime_ns = nanoseconds(basic.ChangeTime.QuadPart);
  }
  ::CloseHandle(handle);
  return status;
}

}  // namespace metainfo

#endif
