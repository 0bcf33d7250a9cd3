#include "core/stat_job.h"

#include <algorithm>

#include "core/reader.h"

namespace metainfo {
namespace {

constexpr std::size_t kBatch = 256;
// What the budget takes a batch for.
constexpr std::uint64_t kBatchBytes = 1 << 20;
// A slow disk answers several at once.
constexpr std::size_t kMostWorkers = 8;

}  // namespace

StatJob::StatJob(std::string paths, Budget& budget) : Crew(budget), paths_(std::move(paths)) {
  for (std::size_t at = 0; at < paths_.size(); at = paths_.find('\0', at) + 1) starts_.push_back(at);
  numbers_.resize(starts_.size() * kNumbers);
  const std::size_t batches = std::max<std::size_t>(1, (starts_.size() + kBatch - 1) / kBatch);
  ask_for(static_cast<unsigned>(std::min(batches, kMostWorkers)), 0);
}

bool StatJob::work(Seat& seat, const Served& served, std::shared_ptr<void>&) noexcept try {
  for (;;) {
    if (cancelled()) return true;
    const std::size_t first = next_.fetch_add(kBatch, std::memory_order_relaxed);
    if (first >= starts_.size()) return true;
    for (std::size_t i = first; i < std::min(starts_.size(), first + kBatch); ++i) {
      FileStatus status;
      seat.call([&] { status = file_status(&paths_[starts_[i]]); });
      double* out = &numbers_[i * kNumbers];
      out[0] = status.error;
      out[1] = status.mode;
      out[2] = status.size;
      out[3] = status.mtime_ms;
      out[4] = status.ctime_ms;
      out[5] = status.device;
      out[6] = status.inode;
    }
    if (served(kBatchBytes)) return false;
  }
} catch (const Seat::Left&) {
  return true;
}

void StatJob::settle(bool unstarted) {
  if (unstarted || cancelled()) numbers_.clear();
}

}  // namespace metainfo
