#include "core/crew.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace metainfo {

void Crew::ask_for(unsigned workers, std::uint64_t memory_each) {
  wanted = workers;
  memory = memory_each;
}

void Crew::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  started_ = true;
  budget_.enter(*this);
}

// Under the budget's lock.
bool Crew::start_worker() {
  try {
    auto place = std::make_unique<Place>(*this);
    places_.reserve(places_.size() + 1);
    // Null where it is no shared_ptr that owns the crew: then stop() waits for every thread.
    std::thread([this, owner = weak_from_this().lock(), seat = place.get()] { run(*seat); }).detach();
    places_.push_back(std::move(place));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Under the budget's lock.
unsigned Crew::give_up_stuck() {
  return static_cast<unsigned>(
      std::count_if(places_.begin(), places_.end(), [](const auto& place) { return place->give_up(); }));
}

void Crew::run(Place& place) {
  std::shared_ptr<void> rest;
  const bool exhausted = work(
      place, [this](std::uint64_t bytes) { return budget_.served(*this, bytes); }, rest);
  // Those who are stuck must not hold up a failure either.
  if (ended() && budget_.withdraw(*this)) finish(false);
  if (!place.gone()) {
    place.leave();
    if (budget_.leave(*this, exhausted)) finish(false);
  }
  rest.reset();
  std::unique_ptr<Place> own;
  budget_.end_thread(*this, [&] {
    auto found =
        std::find_if(places_.begin(), places_.end(), [&](const auto& one) { return one.get() == &place; });
    own = std::move(*found);
    places_.erase(found);
  });
}

void Crew::finish(bool unstarted) {
  settle(unstarted);
  const std::lock_guard<std::mutex> lock(finish_);
  if (finished_) finished_();
}

void Crew::cancel() {
  cancelled() = true;
  if (started_ && budget_.withdraw(*this)) finish(false);
}

void Crew::stop() {
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
