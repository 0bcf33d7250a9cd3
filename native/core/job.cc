#include "core/job.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "core/worker.h"

namespace metainfo {

Job::Job(Plan plan, const Kernels& kernels, Budget& budget)
    : Crew(budget), work_(std::move(plan), kernels, gauge_) {
  share_cancelled(gauge_.cancelled);
  // A plan of empty files has no batch, but they are looked at.
  const std::uint64_t batches = std::max<std::uint64_t>(1, work_.batches);
  ask_for(static_cast<unsigned>(std::min<std::uint64_t>(work_.plan.threads, batches)),
          worker_shape(work_.plan).bytes());
}

bool Job::work(Seat& seat, const Served& served, std::shared_ptr<void>& rest) noexcept {
  try {
    const std::shared_ptr<Worker> worker =
        work_.plan.version == Version::v2 ? make_leaf_worker(work_, &seat) : make_piece_worker(work_, &seat);
    rest = worker;
    bool exhausted = true;
    while (const std::uint64_t bytes = worker->batch()) {
      if (!served(bytes)) continue;
      exhausted = false;
      break;
    }
    worker->finish();
    // Its files are closed.
    if (!ended()) rest.reset();
    return exhausted;
  } catch (const std::bad_alloc&) {
    work_.fail({Failure::Code::no_memory, 0, {}, {}});
    return true;
  }
}

// In the one order of all threads, unlike Work::stopped(): see Seat.
bool Job::ended() const { return work_.stop.load() || gauge_.cancelled.load(); }

void Job::settle(bool unstarted) {
  if (unstarted) work_.fail({Failure::Code::no_thread, 0, {}, {}});
  if (gauge_.cancelled) {
    outcome_ = Failure{Failure::Code::aborted, 0, {}, {}};
  } else if (work_.failure) {
    outcome_ = *std::move(work_.failure);
  } else {
    for (std::size_t i = 0; i < work_.missing.size(); ++i) {
      if (work_.missing[i]) work_.digests.missing.push_back(static_cast<std::uint32_t>(i));
    }
    outcome_ = std::move(work_.digests);
  }
}

}  // namespace metainfo
