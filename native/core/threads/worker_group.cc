// Starts, stops and gives up the threads of a worker group.
#include "core/threads/worker_group.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "core/threads/thread_pool.h"

namespace metainfo {

void WorkerGroup::want_workers(unsigned workers, std::uint64_t memory_per_worker) {
  wanted_workers = workers;
  memory = memory_per_worker;
}

void WorkerGroup::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  started_ = true;
  budget_.enter(*this);
}

// The budget's lock is held: the pool never waits for a task.
bool WorkerGroup::start_worker() {
  try {
    auto thread = std::make_unique<GroupThread>(*this);
    group_threads_.reserve(group_threads_.size() + 1);
    // `owner` is null if no shared_ptr owns the group: then stop() waits for every thread.
    ThreadPool::process().run(
        [this, owner = weak_from_this().lock(), own = thread.get()] { run_thread(*own); });
    group_threads_.push_back(std::move(thread));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// The budget's lock is held.
unsigned WorkerGroup::give_up_stuck() {
  return static_cast<unsigned>(std::count_if(group_threads_.begin(), group_threads_.end(),
                                             [](const auto& thread) { return thread->give_up(); }));
}

void WorkerGroup::run_thread(GroupThread& thread) {
  std::shared_ptr<void> leftover;
  const bool exhausted = run_worker(
      thread, [this](std::uint64_t bytes) { return budget_.served(*this, bytes); }, leftover);
  // A failure, too, must not wait for threads that are stuck.
  if (ended() && budget_.withdraw(*this)) finish(false);
  if (!thread.gone()) {
    thread.leave();
    // Destroying a leftover, or closing what a group that has ended early has still open, may take long.
    if (!leftover && !ended()) ThreadPool::process().about_to_end();
    if (budget_.leave(*this, exhausted)) finish(false);
  }
  leftover.reset();
  std::unique_ptr<GroupThread> own;
  budget_.end_thread(*this, [&] {
    auto entry = std::find_if(group_threads_.begin(), group_threads_.end(),
                              [&](const auto& other) { return other.get() == &thread; });
    own = std::move(*entry);
    group_threads_.erase(entry);
  });
}

void WorkerGroup::finish(bool unstarted) {
  settle(unstarted);
  const std::lock_guard<std::mutex> lock(finish_);
  if (finished_) finished_();
}

void WorkerGroup::cancel() {
  cancelled() = true;
  if (started_ && budget_.withdraw(*this)) finish(false);
}

void WorkerGroup::stop() {
  cancelled() = true;
  if (started_) budget_.withdraw(*this);
  if (weak_from_this().expired()) {
    budget_.wait_for_threads(*this);
  } else {
    budget_.wait_for_workers(*this);
  }
  const std::lock_guard<std::mutex> lock(finish_);
  finished_ = nullptr;
}

}  // namespace metainfo
