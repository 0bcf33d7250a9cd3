#include "core/crew.h"

#include <algorithm>
#include <new>
#include <system_error>
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

void Crew::abandon() {
  settle(true);
  finished_();
}

void Crew::run(Place& place) {
  const bool exhausted = work([this](std::uint64_t bytes) { return budget_.served(*this, bytes); });
  if (!budget_.leave(*this, exhausted, place.done)) return;
  settle(false);
  finished_();
}

void Crew::cancel() {
  cancelled() = true;
  if (!started_ || !budget_.withdraw(*this)) return;
  settle(false);
  finished_();
}

void Crew::join() {
  for (const auto& place : places_) {
    if (place->thread.joinable()) place->thread.join();
  }
}

void Crew::stop() {
  cancelled() = true;
  if (started_) budget_.withdraw(*this);
  join();
}

}  // namespace metainfo
