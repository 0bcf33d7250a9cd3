// The hashing state of one worker: its buffers and open files, and how it hashes a part.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/files/open_files.h"
#include "core/hash/job_state.h"

namespace metainfo {

class Worker {
 public:
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Takes a part and hashes it. Returns its bytes, at least 1, or 0 if no part is left or the job has
  // stopped. A failure is recorded in the job state and stops the job.
  std::uint64_t do_part() noexcept;

  // Checks that the open files are unchanged and closes them. Call it after the last part.
  void finish() noexcept;

 protected:
  Worker(JobState& job, WorkerThread* thread) : job_(job), files_(job, thread) {}

  virtual void hash(const JobState::Part& part) = 0;

  // Calls `read`, which returns the bytes that it has read. If they came from a disk and not from the page
  // cache, cold() is true for the next parts: then the worker should prefetch what it will read next. The
  // system's own readahead works well for one stream, but not for several.
  template <typename Read>
  void time_read(Read read) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::size_t bytes = read();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (bytes != 0 && seconds * kColdBytesPerSecond > static_cast<double>(bytes)) cold_parts_ = kColdParts;
  }
  bool cold() const { return cold_parts_ != 0; }
  static constexpr std::uint64_t kPrefetchBytes = 1 << 20;  // the unit of prefetching

  JobState& job_;
  OpenFiles files_;

 private:
  // Reads from the page cache are faster than this.
  static constexpr double kColdBytesPerSecond = 2e9;
  static constexpr unsigned kColdParts = 64;

  bool check_empty_files();
  template <typename Action>
  void guarded(Action action) noexcept;

  unsigned cold_parts_ = 0;
};

// v1 and hybrid: hashes as many pieces side by side as there are lanes. If `thread` is given, system calls go
// through it, so that the thread can be given up.
std::unique_ptr<Worker> make_piece_worker(JobState& job, WorkerThread* thread = nullptr);
// v2: hashes leaves side by side, also of different files.
std::unique_ptr<Worker> make_leaf_worker(JobState& job, WorkerThread* thread = nullptr);

// How a worker of this request uses its share of the memory limit.
struct WorkerShape {
  std::size_t read_size;  // bytes of one read at most
  std::size_t lanes;      // reads in memory at once
  std::size_t bytes() const { return read_size * lanes; }
};
WorkerShape worker_shape(const HashRequest& request);

}  // namespace metainfo
