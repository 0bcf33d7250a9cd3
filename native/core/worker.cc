#include "core/worker.h"

#include <algorithm>
#include <exception>
#include <new>

namespace metainfo {

template <typename Action>
void Worker::guarded(Action action) noexcept {
  try {
    action();
  } catch (const Failure& failure) {
    work_.fail(failure);
  } catch (const Seat::Left&) {
    // The job has stopped already.
  } catch (const std::bad_alloc&) {
    work_.fail({Failure::Code::no_memory, 0, {}, {}});
  } catch (const std::exception& error) {
    work_.fail({Failure::Code::internal, 0, {}, error.what()});
  }
}

std::uint64_t Worker::batch() noexcept {
  std::uint64_t done = 0;
  guarded([&] {
    if (work_.stopped()) return;
    const Work::Batch batch = work_.take();
    if (batch.first == batch.last) {
      if (check_empty_files()) done = 1;
      return;
    }
    if (cold_batches_ != 0) --cold_batches_;
    hash(batch);
    const std::uint64_t unit = work_.has_v1() ? work_.plan.piece_length : Work::kRunBytes;
    done = (batch.last - batch.first) * unit;
  });
  return work_.stopped() ? 0 : done;
}

void Worker::finish() noexcept {
  guarded([&] {
    if (!work_.stopped()) files_.close_all();
  });
}

// No piece leads to these, but they too must be what they were. True when there may be more.
bool Worker::check_empty_files() {
  constexpr std::size_t kMany = 64;
  const std::size_t first = work_.next_empty.fetch_add(kMany, std::memory_order_relaxed);
  const std::size_t last = std::min(work_.empty_files.size(), first + kMany);
  for (std::size_t i = first; i < last && !work_.stopped(); ++i) files_.get(work_.empty_files[i]);
  return last < work_.empty_files.size() && first < last;
}

WorkerShape worker_shape(const Plan& plan) {
  WorkerShape shape{};
  const std::size_t share = plan.memory_limit / plan.threads;
  const bool pieces = plan.version != Version::v2;
  const std::uint64_t most = pieces ? plan.piece_length : Work::kRunBytes;
  shape.slice = static_cast<std::size_t>(std::min<std::uint64_t>(plan.read_size, most));
  const std::size_t wanted = pieces ? kMostLanes : std::max<std::size_t>(1, Work::kRunBytes / shape.slice);
  shape.lanes = std::min(wanted, std::max<std::size_t>(1, share / shape.slice));
  return shape;
}

}  // namespace metainfo
