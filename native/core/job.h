// A plan being hashed.
#pragma once

#include <variant>

#include "core/crew.h"
#include "core/gauge.h"
#include "core/plan.h"
#include "core/work.h"
#include "kernels/kernel.h"

namespace metainfo {

class Job final : public Crew {
 public:
  using Outcome = std::variant<std::monostate, Digests, Failure>;

  // Throws Failure, std::bad_alloc.
  Job(Plan plan, const Kernels& kernels, Budget& budget = Budget::process());
  ~Job() override { stop(); }

  Version version() const { return work_.plan.version; }
  const Gauge& gauge() const { return gauge_; }
  Outcome& outcome() { return outcome_; }

 private:
  bool work(Seat& seat, const Served& served, std::shared_ptr<void>& rest) noexcept override;
  bool ended() const override;
  void settle(bool unstarted) override;

  Gauge gauge_;
  Work work_;
  Outcome outcome_;
};

}  // namespace metainfo
