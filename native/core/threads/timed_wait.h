// Waits for a condition variable, but not longer than a given time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace metainfo {

// Returns when `changed` is notified or the time is over, and sometimes without either.
//
// std::condition_variable::wait_for would need glibc 2.30 for its steady clock, and the addon must load with
// 2.28. If the clock of the system is set meanwhile, the wait takes shorter or longer.
inline std::cv_status wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                               std::chrono::milliseconds time) {
  return changed.wait_until(lock, std::chrono::system_clock::now() + time);
}

}  // namespace metainfo
