// Takes parts of a request one by one and turns whatever a part throws into a failure of the job.
#include "core/hash/worker.h"

#include <algorithm>
#include <exception>
#include <new>

namespace metainfo {

template <typename Action>
void Worker::guarded(Action action) noexcept {
  try {
    action();
  } catch (const Failure& failure) {
    job_.fail(failure);
  } catch (const WorkerThread::Stopped&) {
    // The job has stopped already: there is nothing to report.
  } catch (const std::bad_alloc&) {
    job_.fail({Failure::Code::no_memory, 0, {}, {}});
  } catch (const std::exception& error) {
    job_.fail({Failure::Code::internal, 0, {}, error.what()});
  }
}

std::uint64_t Worker::do_part() noexcept {
  std::uint64_t done = 0;
  guarded([&] {
    if (job_.stopped()) return;
    const JobState::Part part = job_.take_part();
    if (part.first == part.last) {
      if (check_empty_files()) done = 1;
      return;
    }
    if (cold_parts_ != 0) --cold_parts_;
    hash(part);
    const std::uint64_t unit = job_.has_v1() ? job_.request.piece_length : JobState::kSubtreeBytes;
    done = (part.last - part.first) * unit;
  });
  return job_.stopped() ? 0 : done;
}

void Worker::finish() noexcept {
  guarded([&] {
    if (!job_.stopped()) files_.close_all();
  });
}

// Opens some empty files: no part contains them, but they must be unchanged too. True if more may be left.
bool Worker::check_empty_files() {
  constexpr std::size_t kFilesPerCall = 64;
  const std::size_t first = job_.next_empty.fetch_add(kFilesPerCall, std::memory_order_relaxed);
  const std::size_t last = std::min(job_.empty_files.size(), first + kFilesPerCall);
  for (std::size_t i = first; i < last && !job_.stopped(); ++i) files_.get(job_.empty_files[i]);
  return last < job_.empty_files.size() && first < last;
}

WorkerShape worker_shape(const HashRequest& request) {
  WorkerShape shape{};
  const std::size_t share = request.memory_limit / request.threads;
  const bool pieces = request.version != Version::v2;
  const std::uint64_t max_read = pieces ? request.piece_length : JobState::kSubtreeBytes;
  shape.read_size = static_cast<std::size_t>(std::min<std::uint64_t>(request.read_size, max_read));
  const std::size_t wanted_lanes =
      pieces ? kMaxLanes : std::max<std::size_t>(1, JobState::kSubtreeBytes / shape.read_size);
  shape.lanes = std::min(wanted_lanes, std::max<std::size_t>(1, share / shape.read_size));
  return shape;
}

}  // namespace metainfo
