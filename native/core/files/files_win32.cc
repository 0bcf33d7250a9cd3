// Opens paths on Windows, and converts its errors, paths and times.
#ifdef _WIN32

#include "core/files/files_win32.h"

#include <algorithm>
#include <cerrno>

namespace metainfo {

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

HANDLE open_shared(const std::string& path, DWORD access) {
  const std::wstring wide = system_path(path);
  if (wide.empty()) {
    ::SetLastError(ERROR_FILE_NOT_FOUND);
    return INVALID_HANDLE_VALUE;
  }
  return ::CreateFileW(wide.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

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

double nanoseconds(std::int64_t ticks) { return static_cast<double>(ticks % 10000000 * 100); }

}  // namespace metainfo

#endif
