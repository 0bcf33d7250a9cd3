// Runs the workers of a hash job and turns their shared state into its outcome.
#include "core/hash/job.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "core/hash/worker.h"

namespace metainfo {
namespace {

std::unique_ptr<Worker> make_worker(JobState& state, WorkerThread* thread) {
  return state.request.version == Version::v2 ? make_leaf_worker(state, thread)
                                              : make_piece_worker(state, thread);
}

}  // namespace

Job::Job(HashRequest request, const Kernels& kernels, Budget& budget)
    : WorkerGroup(budget), state_(std::move(request), kernels, progress_) {
  share_cancelled(progress_.cancelled);
  // A request of empty files has no parts, but a worker must still check the files.
  const std::uint64_t parts =
      state_.has_many_files() ? state_.request.threads : std::max<std::uint64_t>(1, state_.parts);
  want_workers(static_cast<unsigned>(std::min<std::uint64_t>(state_.request.threads, parts)),
               worker_shape(state_.request).bytes());
}

void Job::run_here() {
  try {
    state_.prepare();
    const std::unique_ptr<Worker> worker = make_worker(state_, nullptr);
    while (worker->do_part() != 0) continue;
    worker->finish();
  } catch (const std::bad_alloc&) {
    state_.fail({Failure::Code::no_memory, 0, {}, {}});
  }
  settle(false);
}

bool Job::run_worker(WorkerThread& thread, const Served& served, std::shared_ptr<void>& leftover) noexcept {
  try {
    state_.prepare();
    const std::shared_ptr<Worker> worker = make_worker(state_, &thread);
    leftover = worker;
    bool exhausted = true;
    while (const std::uint64_t bytes = worker->do_part()) {
      if (!served(bytes)) continue;
      exhausted = false;
      break;
    }
    worker->finish();
    // finish() has closed the files: destroying the worker makes no system call.
    if (!ended()) leftover.reset();
    return exhausted;
  } catch (const std::bad_alloc&) {
    state_.fail({Failure::Code::no_memory, 0, {}, {}});
    return true;
  }
}

// Unlike JobState::stopped(), these loads are sequentially consistent: WorkerThread::call() relies on it.
bool Job::ended() const { return state_.stop.load() || progress_.cancelled.load(); }

void Job::settle(bool unstarted) {
  if (unstarted) state_.fail({Failure::Code::no_thread, 0, {}, {}});
  if (progress_.cancelled) {
    outcome_ = Failure{Failure::Code::aborted, 0, {}, {}};
  } else if (state_.failure) {
    outcome_ = *std::move(state_.failure);
  } else {
    for (std::size_t i = 0; i < state_.missing.size(); ++i) {
      if (state_.missing[i]) state_.digests.missing.push_back(static_cast<std::uint32_t>(i));
    }
    outcome_ = std::move(state_.digests);
  }
}

}  // namespace metainfo
