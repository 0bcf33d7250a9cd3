// Parks threads after their tasks, calls them for new ones, and ends them when they were idle for long.
#include "core/threads/thread_pool.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "core/threads/lower_priority.h"
#include "core/threads/timed_wait.h"

namespace metainfo {

thread_local ThreadPool::Self* ThreadPool::self_ = nullptr;

ThreadPool& ThreadPool::process() {
  static auto* pool = new ThreadPool(std::chrono::seconds(3));
  return *pool;
}

ThreadPool::~ThreadPool() {
  end_parked();
  std::unique_lock<std::mutex> lock(mutex_);
  thread_ended_.wait(lock, [this] { return threads_ == 0; });
}

void ThreadPool::run(Task task) {
  if (self_ != nullptr && self_->pool == this && self_->about_to_end && !self_->next) {
    self_->next = std::move(task);
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  parks_ = true;
  if (!parked_.empty()) {
    call_last(std::move(task));
    return;
  }
  parked_.reserve(threads_ + 1);  // so that park() allocates nothing
  std::thread([this, task = std::move(task)]() mutable { run_thread(std::move(task)); }).detach();
  ++threads_;
}

void ThreadPool::about_to_end() {
  if (self_ != nullptr && self_->pool == this) self_->about_to_end = true;
}

void ThreadPool::run_with_helpers(std::size_t helpers, const Task& work) {
  std::mutex mutex;
  std::condition_variable helper_ended;
  std::size_t started = 0;
  std::size_t ended = 0;
  try {
    for (; started < helpers; ++started) {
      run([&work, &mutex, &ended, &helper_ended] {
        work();
        const std::lock_guard<std::mutex> lock(mutex);
        ++ended;
        helper_ended.notify_one();
      });
    }
  } catch (const std::exception&) {
    // The system cannot start more threads: those that run, or this one alone, do the work.
  }
  work();
  std::unique_lock<std::mutex> lock(mutex);
  helper_ended.wait(lock, [&] { return ended == started; });
}

void ThreadPool::end_parked() {
  const std::lock_guard<std::mutex> lock(mutex_);
  parks_ = false;
  while (!parked_.empty()) call_last(nullptr);
}

std::size_t ThreadPool::threads() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return threads_;
}

std::size_t ThreadPool::parked() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return parked_.size();
}

void ThreadPool::run_thread(Task task) {
  Self self{this};
  self_ = &self;
  lower_priority();
  while (task) {
    task();
    // Destroy the task, and everything that it owns, before the thread waits.
    task = nullptr;
    self.about_to_end = false;
    task = self.next ? std::exchange(self.next, nullptr) : park();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  --threads_;
  thread_ended_.notify_all();
}

ThreadPool::Task ThreadPool::park() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!parks_) return nullptr;
  Parked own;
  parked_.push_back(&own);
  std::cv_status waited = std::cv_status::no_timeout;
  while (!own.is_called && waited == std::cv_status::no_timeout) waited = wait_for(own.called, lock, idle_);
  if (!own.is_called) parked_.erase(std::find(parked_.begin(), parked_.end(), &own));
  return std::move(own.task);
}

// The lock is held, and a thread is parked. It cannot go on, and destroy its entry, before the lock is free.
void ThreadPool::call_last(Task task) {
  Parked& last = *parked_.back();
  parked_.pop_back();
  last.task = std::move(task);
  last.is_called = true;
  last.called.notify_one();
}

}  // namespace metainfo
