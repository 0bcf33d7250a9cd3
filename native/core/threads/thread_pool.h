// A pool of threads that stay for a while after a task, because starting a thread costs more than a small
// task.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace metainfo {

// Each task runs at once, on a thread of its own: a parked one, or a new one if none is parked. The pool has
// neither a queue nor a limit: the budget decides how many workers run.
class ThreadPool {
 public:
  using Task = std::function<void()>;

  // `idle` is how long a thread stays parked before it ends.
  explicit ThreadPool(std::chrono::milliseconds idle) : idle_(idle) {}
  // Waits for all tasks.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process. It is never destroyed: a thread that was stuck in a system call may return to it
  // at any time, also while the process exits.
  static ThreadPool& process();

  // Runs a task, which must not throw. Waits for no other task. Throws std::system_error if no thread is
  // parked and the system cannot start one, and std::bad_alloc.
  void run(Task task);

  // Call it in a task that is about to end and will not wait any more. If the rest of the task runs others,
  // this thread does the first of them next: that costs less than to wake another thread and then park.
  void about_to_end();

  // Runs `work` on the calling thread and on `helpers` more, or on as many as the system can start. Returns
  // when all of them have returned.
  void run_with_helpers(std::size_t helpers, const Task& work);

  // Ends the parked threads, without waiting for them. The others end after their task, unless another task
  // is run meanwhile.
  void end_parked();

  // The number of threads that are parked or run a task.
  std::size_t threads();
  // The number of threads that are parked.
  std::size_t parked();

 private:
  // A parked thread. The mutex guards it.
  struct Parked {
    std::condition_variable called;
    bool is_called = false;
    Task task;  // empty: the thread must end
  };

  // A thread of the pool, as it sees itself.
  struct Self {
    const ThreadPool* pool;
    bool about_to_end = false;
    Task next{};
  };
  static thread_local Self* self_;  // null on other threads

  void run_thread(Task task);
  Task park();
  void call_last(Task task);

  std::mutex mutex_;
  const std::chrono::milliseconds idle_;
  bool parks_ = true;            // false from end_parked() until the next task
  std::vector<Parked*> parked_;  // the last one is called first: its memory is most likely still cached
  std::size_t threads_ = 0;
  std::condition_variable thread_ended_;
};

}  // namespace metainfo
