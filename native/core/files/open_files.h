// The few files that one worker has open at a time, however many the request has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/files/reader.h"
#include "core/hash/job_state.h"

namespace metainfo {

class OpenFiles {
 public:
  explicit OpenFiles(JobState& job, WorkerThread* thread = nullptr) : job_(job), thread_(thread) {}

  // Opens a file of the request, unless it is open. Returns null if the file is missing and the request marks
  // missing files. The result is valid until the next call. Throws Failure.
  const Reader* get(std::size_t file);

  // Both throw a Failure if a file has changed since it was requested, and WorkerThread::Stopped if the
  // thread was given up while it closed a file.
  void close(std::size_t file);
  void close_all();

 private:
  struct Entry {
    bool used = false;
    std::size_t file = 0;
    std::uint64_t last_use = 0;
    std::optional<Reader> reader;  // empty: the file is missing
  };

  void close(Entry& entry);
  const RootFolder* root();

  // Enough for lanes that are all in different files.
  static constexpr std::size_t kMaxOpen = kMaxLanes;

  JobState& job_;
  WorkerThread* thread_;
  std::optional<RootFolder> root_;
  std::array<Entry, kMaxOpen> entries_;
  Entry* latest_ = nullptr;
  std::uint64_t uses_ = 0;
};

}  // namespace metainfo
