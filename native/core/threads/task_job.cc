// Runs the function of a task job and keeps its failure.
#include "core/threads/task_job.h"

#include <exception>
#include <new>
#include <utility>

namespace metainfo {

TaskJob::TaskJob(Task task, Budget& budget) : WorkerGroup(budget), task_(std::move(task)) {
  want_workers(1, 0);
}

bool TaskJob::run_worker(WorkerThread&, const Served&, std::shared_ptr<void>&) noexcept {
  run();
  return true;
}

void TaskJob::settle(bool unstarted) {
  if (cancelled()) {
    failure_ = Failure{Failure::Code::aborted, 0, {}, {}};
  } else if (unstarted) {
    run();
  }
}

void TaskJob::run() noexcept {
  try {
    task_(cancelled());
  } catch (const std::bad_alloc&) {
    failure_ = Failure{Failure::Code::no_memory, 0, {}, {}};
  } catch (const std::exception& error) {
    failure_ = Failure{Failure::Code::internal, 0, {}, error.what()};
  }
}

}  // namespace metainfo
