// One thread's share of a job: its buffers, its open files, and what it does with a batch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/open_files.h"
#include "core/work.h"

namespace metainfo {

class Worker {
 public:
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Takes a batch and does it. Answers its bytes, at least 1; 0 when nothing is left or the job was stopped,
  // which a failure does: it stands in the work then.
  std::uint64_t batch() noexcept;

  // Checks and closes the files. To be called after the last batch.
  void finish() noexcept;

 protected:
  Worker(Work& work, Seat* seat) : work_(work), files_(work, seat) {}

  virtual void hash(const Work::Batch& batch) = 0;

  // Runs `read`, which answers its bytes, and looks whether they came from a disk: then `cold()` holds for
  // the next batches, and what will be read should be announced. The system reads ahead of one stream well,
  // of several badly.
  template <typename Read>
  void watch(Read read) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::size_t bytes = read();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (bytes != 0 && seconds * kColdBytesPerSecond > static_cast<double>(bytes))
      cold_batches_ = kColdBatches;
  }
  bool cold() const { return cold_batches_ != 0; }
  static constexpr std::uint64_t kAhead = 1 << 20;  // bytes to announce at once

  Work& work_;
  OpenFiles files_;

 private:
  // Memory is faster than this.
  static constexpr double kColdBytesPerSecond = 2e9;
  static constexpr unsigned kColdBatches = 64;

  bool check_empty_files();
  template <typename Action>
  void guarded(Action action) noexcept;

  unsigned cold_batches_ = 0;
};

// `lanes` pieces side by side, each read in slices: v1 and hybrid. Calls of the system are made on the seat,
// if there is one.
std::unique_ptr<Worker> make_piece_worker(Work& work, Seat* seat = nullptr);
// Leaves side by side, whatever files they are of: v2.
std::unique_ptr<Worker> make_leaf_worker(Work& work, Seat* seat = nullptr);

// How a job of this plan uses memory: bytes a worker, for the lanes that fit into its share of the limit.
struct WorkerShape {
  std::size_t slice;  // bytes a read at most
  std::size_t lanes;  // slices in memory at once
  std::size_t bytes() const { return slice * lanes; }
};
WorkerShape worker_shape(const Plan& plan);

}  // namespace metainfo
