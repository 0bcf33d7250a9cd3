// Temporary files for a test, and the request entries that describe them.
#pragma once

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#endif

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

#include "core/hash/hash_request.h"
#include "oracle.h"

// Converts a path of the core (UTF-8, of any length) to one that the standard library can open. They differ
// on Windows.
inline std::filesystem::path native_path(const std::string& path) {
#ifdef _WIN32
  return L"\\\\?\\" + std::filesystem::u8path(path).make_preferred().wstring();
#else
  return path;
#endif
}

inline void write_file(const std::string& path, const oracle::Bytes& bytes, std::ios::openmode mode = {}) {
  std::ofstream file(native_path(path), std::ios::binary | std::ios::out | mode);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

inline void set_mtime(const std::string& path, std::int64_t seconds, long nanoseconds) {
#ifdef _WIN32
  ULARGE_INTEGER ticks;
  ticks.QuadPart = static_cast<std::uint64_t>((seconds + 11644473600) * 10000000 + nanoseconds / 100);
  const FILETIME time = {ticks.LowPart, ticks.HighPart};
  const HANDLE file = ::CreateFileW(native_path(path).c_str(), FILE_WRITE_ATTRIBUTES,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, 0, nullptr);
  const bool done = ::SetFileTime(file, nullptr, &time, &time) != 0;
  ::CloseHandle(file);
#else
  const timespec time = {static_cast<time_t>(seconds), nanoseconds};
  const timespec times[2] = {time, time};
  const bool done = ::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0;
#endif
  if (!done) throw std::runtime_error("cannot touch " + path);
}

// Whether the system reports that an open file was deleted. Windows does, wine does not.
inline bool deletion_is_told() {
#ifdef _WIN32
  return ::GetProcAddress(::GetModuleHandleA("ntdll"), "wine_get_version") == nullptr;
#else
  return true;
#endif
}

// A new temporary folder. The destructor removes it with its content.
class TempFolder {
 public:
  // The mtime of every file that it adds; kMtimeMs is the same time as Node's fs.Stats.mtimeMs.
  static constexpr std::int64_t kSeconds = 1700000000;
#ifdef _WIN32  // stores units of 100 ns
  static constexpr long kNanoseconds = 123456700;
  static constexpr double kMtimeMs = 1700000000123.4567;
#else
  static constexpr long kNanoseconds = 123456789;
  static constexpr double kMtimeMs = 1700000000123.456789;
#endif

  TempFolder() {
    const std::string name = "metainfo-native-" + std::to_string(std::random_device()());
    path_ = (std::filesystem::temp_directory_path() / name).string();
    if (!std::filesystem::create_directory(path_)) throw std::runtime_error(path_ + " is there already");
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(native_path(path_), ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // Writes a file and returns its request entry.
  metainfo::RequestedFile add(const std::string& name, const oracle::Bytes& bytes) const {
    write_file(path(name), bytes);
    set_mtime(path(name), kSeconds, kNanoseconds);
    metainfo::RequestedFile file;
    file.path = path(name);
    file.length = file.size = bytes.size();
    file.mtime_ms = kMtimeMs;
    return file;
  }

 private:
  std::string path_;
};
