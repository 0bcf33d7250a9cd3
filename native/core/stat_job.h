// The sizes and times of many files: what a scan of a large folder takes longest for.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/crew.h"

namespace metainfo {

class StatJob final : public Crew {
 public:
  // Paths, each ended by a zero byte.
  explicit StatJob(std::string paths, Budget& budget = Budget::process());
  ~StatJob() override { stop(); }

  // Of each file seven numbers: errno of stat(2), or 0 and then st_mode, st_size, Node's mtimeMs and ctimeMs,
  // st_dev, st_ino. Empty when it was cancelled, or the system had no thread to give.
  static constexpr std::size_t kNumbers = 7;
  std::vector<double>& outcome() { return numbers_; }

 private:
  bool work(Seat& seat, const Served& served, std::shared_ptr<void>& rest) noexcept override;
  void settle(bool unstarted) override;

  const std::string paths_;
  std::vector<std::size_t> starts_;
  std::vector<double> numbers_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace metainfo
