// Writes a group of whole files into a folder, with one sync for all of them. Linux only: see
// src/disk/write-file.ts for other systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace metainfo {

struct NewFile {
  struct Owner {
    std::uint32_t user, group, mode;
  };

  std::string name;
  // The caller keeps these bytes.
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  // A file without a name that is written already, and that the caller keeps open; -1 if the bytes are to be
  // written.
  int descriptor = -1;
  // Milliseconds; empty for now.
  std::optional<double> mtime;
  // The name that the file has for a moment before it replaces another one; empty if it must not replace any.
  std::string temporary;
  // Taken over from the file that it replaces.
  std::optional<Owner> owner;
  // errno, or 0: the result. A file with an error has left nothing in the folder. Below 0, it is minus the
  // errno of a sync that failed once the file had replaced another one: it is in place, but may not survive a
  // power cut.
  int error = 0;
};

// Gives the files their names only after the content of all of them is on the disk, and returns after the
// names are, too. The whole group fails with EOPNOTSUPP on systems and file systems without unnamed files.
void write_group(const char* folder, std::vector<NewFile>& files) noexcept;

// The number of KiB that /proc/meminfo calls dirty; 0 if it names none.
std::uint64_t dirty_kib(const char* meminfo);

}  // namespace metainfo
