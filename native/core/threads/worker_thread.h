// The state of one worker thread, which lets others give it up while it is stuck in a system call.
#pragma once

#include <atomic>

namespace metainfo {

// A system call on a network or FUSE file system may never return. When the job stops, a thread inside such a
// call is given up: nobody waits for it, and its place in the budget is free at once. When the call returns,
// the thread touches nothing of the job that others share, and goes back to the pool.
class WorkerThread {
 public:
  // Thrown on a thread whose job has stopped, or that was given up. It only unwinds the stack: the reason is
  // reported elsewhere.
  struct Stopped {};

  WorkerThread() = default;
  virtual ~WorkerThread() = default;
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Makes a system call, unless the job has stopped. Throws Stopped, or what the call throws.
  template <typename Call>
  void call(Call make) {
    if (!enter_call() || stopped()) {
      leave_call();
      throw Stopped{};
    }
    try {
      make();
    } catch (...) {
      if (!leave_call()) throw Stopped{};
      throw;
    }
    if (!leave_call()) throw Stopped{};
  }

  // Makes a call that must not be skipped, such as closing a file. A thread that was given up meanwhile
  // learns of it on its next call, or of check_gone().
  template <typename Call>
  void must_call(Call make) noexcept {
    enter_call();
    make();
    leave_call();
  }

  // Called by the thread that stops the job, after stopped() has become true. Returns true if this thread is
  // in a system call: then it is given up.
  bool give_up() {
    State expected = State::in_call;
    return state_.compare_exchange_strong(expected, State::gone);
  }

  // Called by the thread itself when it leaves.
  void leave() { state_ = State::gone; }
  // True after leave() or a successful give_up().
  bool gone() const { return state_ == State::gone; }
  // Throws Stopped if the thread is gone. Call it after must_call(), before touching what others share.
  void check_gone() const {
    if (gone()) throw Stopped{};
  }

 private:
  enum class State { running, in_call, gone };

  virtual bool stopped() const = 0;

  // Returns false when the thread is gone. All operations here are sequentially consistent: either give_up()
  // sees `in_call`, or the check of stopped() after this sees that the job has stopped.
  bool enter_call() {
    State expected = State::running;
    return state_.compare_exchange_strong(expected, State::in_call);
  }
  bool leave_call() {
    State expected = State::in_call;
    return state_.compare_exchange_strong(expected, State::running);
  }

  std::atomic<State> state_{State::running};
};

}  // namespace metainfo
