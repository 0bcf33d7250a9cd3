// Decides which job gets the next free thread, and which worker must leave for another job.
#include "core/threads/budget.h"

#include <algorithm>
#include <thread>

#include "core/hash/merkle.h"

namespace metainfo {
namespace {

constexpr std::uint64_t kMemoryPerThread = std::uint64_t{64} << 20;
// Jobs that have been served fewer bytes than this count as equal.
constexpr std::uint64_t kFirstStep = std::uint64_t{64} << 20;
// A job without a worker that was passed over this often comes next, whichever jobs arrive.
constexpr unsigned kPatience = 16;

unsigned step_of(std::uint64_t served) { return ceil_log2(served / kFirstStep + 1); }

}  // namespace

Budget& Budget::process() {
  static auto* budget = [] {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    return new Budget({cores, cores * kMemoryPerThread});
  }();
  return *budget;
}

Budget::Usage Budget::usage() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto waiting = std::count_if(claims_.begin(), claims_.end(), [&](const Claim* claim) {
    return claim->active_ == 0 && waits(*claim);
  });
  return {used_threads_, used_memory_, static_cast<std::size_t>(waiting)};
}

Budget::Limits Budget::limits() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return limits_;
}

void Budget::set_limits(Limits limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  limits_ = limits;
  admit();
}

void Budget::enter(Claim& claim) {
  const std::lock_guard<std::mutex> lock(mutex_);
  claim.arrival_ = ++arrivals_;
  claim.entered_ = true;
  claims_.push_back(&claim);
  admit();
}

bool Budget::served(Claim& claim, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  claim.served_ += bytes;
  return must_leave(claim);
}

void Budget::raise(Claim& claim, unsigned workers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (claim.wanted_workers == 0) return;
  claim.wanted_workers = workers;
  admit();
}

bool Budget::leave(Claim& claim, bool exhausted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --claim.active_;
  --used_threads_;
  used_memory_ -= claim.memory;
  if (exhausted) claim.wanted_workers = 0;
  const bool last = claim.wanted_workers == 0 && claim.active_ == 0;
  if (last) remove(claim);
  admit();
  ended_.notify_all();
  return last;
}

bool Budget::withdraw(Claim& claim) {
  const std::lock_guard<std::mutex> lock(mutex_);
  claim.wanted_workers = 0;
  if (!claim.entered_) return false;
  const unsigned stuck = claim.give_up_stuck();
  claim.active_ -= stuck;
  used_threads_ -= stuck;
  used_memory_ -= stuck * claim.memory;
  const bool last = claim.active_ == 0;
  if (last) remove(claim);
  if (stuck != 0) admit();
  return last;
}

void Budget::wait_for_workers(const Claim& claim) {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [&] { return claim.active_ == 0; });
}

void Budget::wait_for_threads(const Claim& claim) {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [&] { return claim.threads_ == 0; });
}

std::size_t Budget::queued(const Claim& claim) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!claim.entered_ || claim.active_ != 0) return 0;
  return 1 + static_cast<std::size_t>(std::count_if(claims_.begin(), claims_.end(), [&](const Claim* other) {
           return other != &claim && waits(*other) && before(*other, claim);
         }));
}

bool Budget::waits(const Claim& claim) const { return claim.active_ < claim.wanted_workers; }

bool Budget::before(const Claim& a, const Claim& b) const {
  const bool a_impatient = a.passed_over_ >= kPatience;
  const bool b_impatient = b.passed_over_ >= kPatience;
  if (a_impatient != b_impatient) return a_impatient;
  if (a.active_ != b.active_) return a.active_ < b.active_;
  if (step_of(a.served_) != step_of(b.served_)) return step_of(a.served_) < step_of(b.served_);
  return a.arrival_ < b.arrival_;
}

bool Budget::must_leave(const Claim& claim) const {
  if (used_threads_ > limits_.threads || (used_threads_ > 1 && used_memory_ > limits_.memory)) return true;
  return std::any_of(claims_.begin(), claims_.end(), [&](const Claim* other) {
    if (other == &claim || !waits(*other)) return false;
    // The memory of this worker would not be enough for the other job.
    if (other->active_ != 0 && used_memory_ - claim.memory + other->memory > limits_.memory) return false;
    // Even with one more worker, the other job has fewer than this one has now.
    if (other->active_ + 1 < claim.active_) return true;
    return other->active_ == 0 && claim.active_ == 1 && step_of(other->served_) < step_of(claim.served_);
  });
}

// A worker that needs more memory than the limit may run if it is the only one.
bool Budget::fits(const Claim& claim) const {
  if (used_threads_ == 0) return true;
  return used_threads_ < limits_.threads && used_memory_ + claim.memory <= limits_.memory;
}

void Budget::remove(Claim& claim) {
  claim.entered_ = false;
  claims_.erase(std::find(claims_.begin(), claims_.end(), &claim));
}

void Budget::admit() {
  for (;;) {
    Claim* best = nullptr;
    for (Claim* claim : claims_) {
      // A job that could only grow is skipped if it does not fit. A job without a worker is not: it holds up
      // the others, because otherwise it might wait forever.
      if (!waits(*claim) || (claim->active_ != 0 && !fits(*claim))) continue;
      if (best == nullptr || before(*claim, *best)) best = claim;
    }
    if (best == nullptr || !fits(*best)) return;
    ++best->active_;
    ++used_threads_;
    used_memory_ += best->memory;
    best->passed_over_ = 0;
    if (best->start_worker()) {
      ++best->threads_;
      for (Claim* claim : claims_)
        claim->passed_over_ += claim->active_ == 0 && claim->arrival_ < best->arrival_;
      continue;
    }
    // The system cannot start a thread: the workers that run do the whole job.
    --best->active_;
    --used_threads_;
    used_memory_ -= best->memory;
    best->wanted_workers = best->active_;
    if (best->active_ != 0) continue;
    remove(*best);
    best->abandon();
  }
}

}  // namespace metainfo
