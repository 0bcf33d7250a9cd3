#include "core/job.h"

#include <exception>
#include <system_error>
#include <utility>

#include "core/pipeline.h"

namespace metainfo {

void Job::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  ticket_ = Budget::process().request(plan_.threads, [this](unsigned threads) { return run(threads); });
}

// Under the budget's lock, so it cannot give its threads back here: the new thread does.
bool Job::run(unsigned threads) {
  plan_.threads = threads;
  try {
    thread_ = std::thread([this, threads] {
      hash();
      Budget::process().release(threads);
      finished_();
    });
    return true;
  } catch (const std::system_error& error) {
    outcome_ = Failure{Failure::Code::internal, error.code().value(), {}, "no thread could be started"};
  } catch (const std::bad_alloc&) {
    outcome_ = Failure{Failure::Code::no_memory, 0, {}, {}};
  }
  finished_();
  return false;
}

void Job::hash() {
  try {
    outcome_ = hash_plan(plan_, kernel_, gauge_);
  } catch (Failure& failure) {
    outcome_ = std::move(failure);
  } catch (const std::bad_alloc&) {
    outcome_ = Failure{Failure::Code::no_memory, 0, {}, {}};
  } catch (const std::exception& error) {
    outcome_ = Failure{Failure::Code::internal, 0, {}, error.what()};
  }
}

void Job::cancel() {
  gauge_.cancelled = true;
  if (ticket_ == 0 || !Budget::process().withdraw(ticket_)) return;
  ticket_ = 0;
  outcome_ = Failure{Failure::Code::aborted, 0, {}, {}};
  finished_();
}

void Job::join() {
  if (thread_.joinable()) thread_.join();
}

void Job::stop() {
  gauge_.cancelled = true;
  if (ticket_ != 0) Budget::process().withdraw(ticket_);
  ticket_ = 0;
  join();
}

}  // namespace metainfo
