// A job that reads a short file, or a folder of few short files, in one step on one thread. Not on Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files/reader.h"
#include "core/threads/worker_group.h"

namespace metainfo {

// All files at and below a path, and their content.
struct SmallTree {
  std::string folder;               // its path on disk, without links; empty for a file
  std::string paths;                // from the root, each ended by a zero byte: one more ends each component
  std::vector<double> numbers;      // size, modification time and change time of each file, as in FileStatus
  std::vector<std::uint8_t> bytes;  // of all files, one after the other
};

class SmallTreeJob final : public WorkerGroup {
 public:
  struct Request {
    ShortPath where;
    std::size_t max_bytes;  // of all files together
    std::size_t max_files;  // 0: a folder is none
  };

  explicit SmallTreeJob(Request request, Budget& budget = Budget::process());
  ~SmallTreeJob() override { stop(); }

  // Empty for anything but such a file or folder whose files stayed the same while they were read, are
  // regular files with plain names, and have together 1 to `max_bytes` bytes; after every error; and after a
  // cancellation. Another job says what is wrong.
  std::optional<SmallTree>& outcome() { return outcome_; }

 private:
  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  void settle(bool) override {}

  const Request request_;
  std::optional<SmallTree> outcome_;
};

}  // namespace metainfo
