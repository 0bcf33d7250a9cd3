// Helpers for tests with threads: counting, waiting, ending parked threads, and a system that starts no
// threads.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>

#include "core/threads/thread_pool.h"

// Counts calls from any thread.
class Tally {
 public:
  void add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    changed_.notify_all();
  }

  void wait(unsigned count = 1) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this, count] { return count_ >= count; });
  }

  unsigned count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned count_ = 0;
};

// Waits until the condition holds. Returns false after ten seconds.
template <typename Condition>
bool eventually(Condition condition) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

// Ends the parked threads of the process until its pool has only `busy` threads. Returns false if more
// remain.
inline bool end_parked_threads(std::size_t busy = 0) {
  metainfo::ThreadPool& pool = metainfo::ThreadPool::process();
  return eventually([&pool, busy] {
    pool.end_parked();
    return pool.threads() <= busy;
  });
}

#ifdef __linux__
// The number of threads of this process. A joined thread may still be counted for a moment.
inline std::size_t threads_alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}
#endif

#ifdef __GLIBC__
// While it exists, no thread can be started: the default stack size is larger than the address space. Parked
// threads of the process are ended first; `busy` of its pool's threads run a task.
class NoThreads {
 public:
  explicit NoThreads(std::size_t busy = 0) {
    end_parked_threads(busy);
    pthread_getattr_default_np(&usual_);
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 60);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t usual_;
};
#endif
