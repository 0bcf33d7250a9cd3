// A job that reads the sizes and times of many files on several threads: the slowest step of a large scan.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/worker_group.h"

namespace metainfo {

class StatJob final : public WorkerGroup {
 public:
  // `paths`: the paths one after the other, each ended by a zero byte.
  explicit StatJob(std::string paths, Budget& budget = Budget::process());
  ~StatJob() override { stop(); }

  // Nine numbers per file: errno of stat(2) or 0, st_mode, st_size, mtimeMs and ctimeMs as in Node, st_dev,
  // st_ino, and the nanoseconds within the second of both times. Empty if the job was cancelled, or the
  // system could not start a thread.
  static constexpr std::size_t kNumbers = 9;
  std::vector<double>& outcome() { return numbers_; }

 private:
  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  void settle(bool unstarted) override;

  const std::string paths_;
  std::vector<std::size_t> starts_;
  std::vector<double> numbers_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace metainfo
