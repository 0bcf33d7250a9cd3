#include "core/job.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/worker.h"

namespace metainfo {

Job::Job(Plan plan, const Kernels& kernels, Budget& budget)
    : work_(std::move(plan), kernels, gauge_), budget_(budget) {
  // A plan of empty files has no batch, but they are looked at.
  wanted = static_cast<unsigned>(
      std::min<std::uint64_t>(work_.plan.threads, std::max<std::uint64_t>(1, work_.batches)));
  memory = worker_shape(work_.plan).bytes();
}

void Job::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  started_ = true;
  budget_.enter(*this);
}

// Under the budget's lock.
bool Job::start_worker() {
  try {
    auto free = std::find_if(places_.begin(), places_.end(), [](const auto& place) { return place->done; });
    if (free == places_.end()) free = places_.insert(places_.end(), std::make_unique<Place>());
    Place& place = **free;
    // It left under this lock and needs nothing more: this does not wait.
    if (place.thread.joinable()) place.thread.join();
    place.done = true;
    place.thread = std::thread([this, &place] { run(place); });
    place.done = false;
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Job::abandon() {
  work_.fail({Failure::Code::internal, 0, {}, "no thread could be started"});
  settle();
  finished_();
}

void Job::run(Place& place) {
  bool exhausted = true;
  try {
    const std::unique_ptr<Worker> worker =
        work_.plan.kind == Kind::v2 ? make_leaf_worker(work_) : make_piece_worker(work_);
    while (const std::uint64_t bytes = worker->batch()) {
      if (!budget_.served(*this, bytes)) continue;
      exhausted = false;
      break;
    }
    worker->finish();
  } catch (const std::bad_alloc&) {
    work_.fail({Failure::Code::no_memory, 0, {}, {}});
  }
  if (!budget_.leave(*this, exhausted, place.done)) return;
  settle();
  finished_();
}

void Job::settle() {
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

void Job::cancel() {
  gauge_.cancelled = true;
  if (!started_ || !budget_.withdraw(*this)) return;
  settle();
  finished_();
}

void Job::join() {
  for (const auto& place : places_) {
    if (place->thread.joinable()) place->thread.join();
  }
}

void Job::stop() {
  gauge_.cancelled = true;
  if (started_) budget_.withdraw(*this);
  join();
}

}  // namespace metainfo
