// A folder on disk: lists its entries and reads their sizes, times and types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/reader.h"

namespace metainfo {

// The type bits of st_mode, and some of their values. They are the same on all systems; the headers of
// Windows lack some.
constexpr std::uint32_t kTypeBits = 0170000;
constexpr std::uint32_t kFolderType = 0040000;
constexpr std::uint32_t kFileType = 0100000;
constexpr std::uint32_t kLinkType = 0120000;

// Names of entries, and the types that the folder tells of them.
struct FolderNames {
  std::string bytes;  // the names one after the other, each ended by a zero byte
  std::vector<std::size_t> starts;
  std::vector<std::uint32_t> types;  // kFolderType, kLinkType, or 0: another type, or an unknown one

  void add(const char* name, std::size_t size, std::uint32_t type) {
    starts.push_back(bytes.size());
    types.push_back(type);
    bytes.append(name, size).push_back('\0');
  }
  std::size_t count() const { return starts.size(); }
  const char* name(std::size_t index) const { return &bytes[starts[index]]; }
  void clear() {
    bytes.clear();
    starts.clear();
    types.clear();
  }
};

// All functions return an errno, or 0. Several threads may call status() and reading_error() while another
// one calls list().
class Folder {
 public:
  // `path`: absolute. It names a folder without symbolic links.
  explicit Folder(std::string path) : path_(std::move(path)) {}
  // Closes the folder.
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Opens the folder and follows no link. The error is ELOOP if there is one in its path, where the system
  // tells.
  int open();

  // Adds the next names, in the order of the system: at least `most`, unless the folder ends first. Without
  // the names `.` and `..`.
  int list(std::size_t most, FolderNames& names, bool& ended);

  // Reads the status of an entry, and follows no link.
  FileStatus status(const char* name) const;

  // Reads a regular file in the folder, as read_short_file() does, and follows no link. Not on Windows.
  std::optional<ShortFile> read(const char* name, std::size_t max) const;

  // Tells why a file in the folder cannot be opened for reading.
  int reading_error(const char* name) const;

 private:
  const std::string path_;
  void* handle_ = nullptr;  // a DIR*; on Windows a HANDLE
#ifdef _WIN32
  FolderNames first_;  // opening a folder gives its first name
#endif
};

}  // namespace metainfo
