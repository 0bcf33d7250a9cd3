#include "core/budget.h"

#include <algorithm>
#include <thread>

namespace metainfo {

Budget& Budget::process() {
  static auto* budget = new Budget(std::max(1U, std::thread::hardware_concurrency()));
  return *budget;
}

Budget::Ticket Budget::request(unsigned threads, Start start) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back({++last_, threads, std::move(start)});
  const Ticket ticket = last_;
  admit();
  return ticket;
}

bool Budget::withdraw(Ticket ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [ticket](const Request& request) { return request.ticket == ticket; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void Budget::release(unsigned threads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_ -= threads;
  admit();
}

// In order of arrival. What is free is shared out whole; the last to come may get fewer than it asked for.
void Budget::admit() {
  while (!waiting_.empty() && used_ < limit_) {
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    const unsigned granted = used_ == 0 ? request.threads : std::min(request.threads, limit_ - used_);
    if (request.start(granted)) used_ += granted;
  }
}

}  // namespace metainfo
