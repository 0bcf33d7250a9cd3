// Reader and file_status() for Windows.
#ifdef _WIN32

#include <sys/stat.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/reader.h"

namespace metainfo {
namespace {

// Translates a Windows error to errno as libuv does, so that errors have the same codes as those of Node.
int errno_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_DIRECTORY:
    case ERROR_INVALID_REPARSE_DATA:
    case ERROR_MOD_NOT_FOUND:
      return ENOENT;
    case ERROR_ACCESS_DENIED:
      return EPERM;
    case ERROR_NOACCESS:
    case ERROR_CANT_ACCESS_FILE:
      return EACCES;
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_PIPE_BUSY:
      return EBUSY;
    case ERROR_TOO_MANY_OPEN_FILES:
      return EMFILE;
    case ERROR_CANT_RESOLVE_FILENAME:
      return ELOOP;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
      return ENOMEM;
    case ERROR_INVALID_PARAMETER:
    case ERROR_INVALID_FUNCTION:
      return EINVAL;
    default:
      return EIO;
  }
}

// Converts an absolute path to the form with the prefix \\?\, as Node does: it may be long, and a name such
// as NUL is an ordinary file. Windows does not resolve `.` and `..` in it, so it must not contain them.
// Returns an empty string if the path is not UTF-8.
std::wstring system_path(const std::string& path) {
  const int bytes = static_cast<int>(path.size());
  std::wstring wide(path.size(), L'\0');
  const int size =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), bytes, wide.data(), bytes);
  wide.resize(static_cast<std::size_t>(size));
  const auto starts_with = [&wide](const wchar_t* text) { return wide.rfind(text, 0) == 0; };
  if (starts_with(L"\\\\?\\") || starts_with(L"\\\\.\\")) return wide;
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  if (wide.size() > 2 && wide[1] == L':' && wide[2] == L'\\') return L"\\\\?\\" + wide;
  if (starts_with(L"\\\\")) return L"\\\\?\\UNC" + wide.substr(1);
  return wide;
}

// Opens a path without preventing others from writing, renaming or deleting it. FILE_FLAG_BACKUP_SEMANTICS
// opens folders too, so that they can be recognised.
HANDLE open_shared(const std::string& path, DWORD access) {
  const std::wstring wide = system_path(path);
  if (wide.empty()) {
    ::SetLastError(ERROR_FILE_NOT_FOUND);
    return INVALID_HANDLE_VALUE;
  }
  return ::CreateFileW(wide.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

HANDLE handle_of(std::intptr_t descriptor) { return reinterpret_cast<HANDLE>(descriptor); }

std::uint64_t join(DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; }

// Converts ticks of 100 ns since 1601 as Node does for fs.Stats.mtimeMs, whose seconds have 32 bits on
// Windows.
double milliseconds(std::int64_t ticks) {
  constexpr std::int64_t kSecond = 10000000;
  ticks -= 11644473600 * kSecond;
  std::int64_t seconds = ticks / kSecond;
  std::int64_t rest = ticks % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return static_cast<double>(static_cast<std::uint32_t>(seconds)) * 1e3 +
         static_cast<double>(rest * 100) / 1e6;
}

}  // namespace

void Reader::open() {
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
  }
  ::CloseHandle(handle);
  return status;
}

}  // namespace metainfo

#endif
