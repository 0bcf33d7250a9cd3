// System calls on files that the reader and the scan share, for Windows.
#pragma once

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cstdint>
#include <string>

namespace metainfo {

// Translates a Windows error to errno as libuv does, so that errors have the same codes as those of Node.
int errno_of(DWORD error);

// Converts an absolute path to the form with the prefix \\?\, as Node does: it may be long, and a name such
// as NUL is an ordinary file. Windows does not resolve `.` and `..` in it, so it must not contain them.
// Returns an empty string if the path is not UTF-8.
std::wstring system_path(const std::string& path);

// Opens a path without preventing others from writing, renaming or deleting it. It opens folders too, so that
// they can be recognised.
HANDLE open_shared(const std::string& path, DWORD access);

inline std::uint64_t join(DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; }

// Converts ticks of 100 ns since 1601 as Node does for fs.Stats.mtimeMs, whose seconds have 32 bits on
// Windows.
double milliseconds(std::int64_t ticks);
// Nanoseconds within the second of a Windows time, which counts 100 ns since 1601.
double nanoseconds(std::int64_t ticks);

}  // namespace metainfo

#endif
