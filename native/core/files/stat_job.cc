// Splits the paths of a stat job into parts and calls stat(2) for each path.
#include "core/files/stat_job.h"

#include <algorithm>

#include "core/files/reader.h"

namespace metainfo {
namespace {

constexpr std::size_t kPartFiles = 256;
// The bytes that a part counts as in the budget, which shares its threads by bytes.
constexpr std::uint64_t kCountedBytes = 1 << 20;
// A slow disk or network answers several calls at once.
constexpr std::size_t kMaxStatWorkers = 8;

}  // namespace

StatJob::StatJob(std::string paths, Budget& budget) : WorkerGroup(budget), paths_(std::move(paths)) {
  for (std::size_t at = 0; at < paths_.size(); at = paths_.find('\0', at) + 1) starts_.push_back(at);
  numbers_.resize(starts_.size() * kNumbers);
  const std::size_t parts = std::max<std::size_t>(1, (starts_.size() + kPartFiles - 1) / kPartFiles);
  want_workers(static_cast<unsigned>(std::min(parts, kMaxStatWorkers)), 0);
}

bool StatJob::run_worker(WorkerThread& thread, const Served& served, std::shared_ptr<void>&) noexcept try {
  for (;;) {
    if (cancelled()) return true;
    const std::size_t first = next_.fetch_add(kPartFiles, std::memory_order_relaxed);
    if (first >= starts_.size()) return true;
    for (std::size_t i = first; i < std::min(starts_.size(), first + kPartFiles); ++i) {
      FileStatus status;
      thread.call([&] { status = file_status(&paths_[starts_[i]]); });
      double* out = &numbers_[i * kNumbers];
      out[0] = status.error;
      out[1] = status.mode;
      out[2] = status.size;
      out[3] = status.mtime_ms;
      out[4] = status.ctime_ms;
      out[5] = status.device;
      out[6] = status.inode;
      out[7] = status.mtime_ns;
      out[8] = status.ctime_ns;
    }
    if (served(kCountedBytes)) return false;
  }
} catch (const WorkerThread::Stopped&) {
  return true;
}

void StatJob::settle(bool unstarted) {
  if (unstarted || cancelled()) numbers_.clear();
}

}  // namespace metainfo
