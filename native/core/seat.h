// A worker thread's place in its crew, and the calls of the system in which it may be stuck.
#pragma once

#include <atomic>

namespace metainfo {

// A file system may never answer. A thread that waits for it when its job stops is given up: nobody waits for
// it, and it touches nothing that it shares with others any more when it returns.
class Seat {
 public:
  // Thrown in a thread whose job has stopped, or that was given up: it unwinds, and others tell of the end.
  struct Left {};

  Seat() = default;
  virtual ~Seat() = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // Makes a call of the system, unless the job has stopped. Throws Left, or what the call throws.
  template <typename Call>
  void call(Call make) {
    if (!enter() || stopped()) {
      leave_call();
      throw Left{};
    }
    try {
      make();
    } catch (...) {
      if (!leave_call()) throw Left{};
      throw;
    }
    if (!leave_call()) throw Left{};
  }

  // Makes a call that must be made, such as closing a file. A thread that is given up meanwhile learns of it
  // by its next call.
  template <typename Call>
  void must_call(Call make) noexcept {
    enter();
    make();
    leave_call();
  }

  // By those who stop the job, after they have said so: true when the thread is in a call, and is given up.
  bool give_up() {
    State expected = State::in_call;
    return state_.compare_exchange_strong(expected, State::gone);
  }

  // By the thread, when it leaves; and whether it has, or was given up.
  void leave() { state_ = State::gone; }
  bool gone() const { return state_ == State::gone; }

 private:
  enum class State { running, in_call, gone };

  virtual bool stopped() const = 0;

  // False when the thread is gone. Either this is seen by who stops the job, or `stopped()` is true after it.
  bool enter() {
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
