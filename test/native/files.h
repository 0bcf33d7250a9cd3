// Files on disk for one test, and plans of them.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/plan.h"
#include "oracle.h"

inline void write_file(const std::string& path, const oracle::Bytes& bytes, std::ios::openmode mode = {}) {
  std::ofstream file(path, std::ios::binary | std::ios::out | mode);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

inline void set_mtime(const std::string& path, std::int64_t seconds, long nanoseconds) {
  const timespec time = {static_cast<time_t>(seconds), nanoseconds};
  const timespec times[2] = {time, time};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) throw std::runtime_error("cannot touch " + path);
}

// A folder of its own that is removed with all that is in it.
class TempFolder {
 public:
  // Of every file it adds; kMtimeMs is what Node's fs.Stats.mtimeMs then says.
  static constexpr std::int64_t kSeconds = 1700000000;
  static constexpr long kNanoseconds = 123456789;
  static constexpr double kMtimeMs = 1700000000123.456789;

  TempFolder() {
    char name[] = "/tmp/metainfo-native-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  // A new file, and how a plan has it.
  metainfo::PlanFile add(const std::string& name, const oracle::Bytes& bytes) const {
    write_file(path(name), bytes);
    set_mtime(path(name), kSeconds, kNanoseconds);
    metainfo::PlanFile file;
    file.path = path(name);
    file.length = file.size = bytes.size();
    file.mtime_ms = kMtimeMs;
    return file;
  }

 private:
  std::string path_;
};
