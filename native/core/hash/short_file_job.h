// A job that reads one short file, and hashes it if that is wanted, in one step on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/files/reader.h"
#include "core/hash/hash_request.h"
#include "core/threads/worker_group.h"
#include "kernels/kernel.h"

namespace metainfo {

class ShortFileJob final : public WorkerGroup {
 public:
  struct Request {
    ShortPath where;
    std::size_t max_bytes;
    std::uint64_t piece_length;      // as in ShortContent
    std::optional<Version> version;  // none: the file is read, and not hashed
  };

  ShortFileJob(Request request, const Kernels& kernels, Budget& budget = Budget::process());
  ~ShortFileJob() override { stop(); }

  struct Hashed {
    FileStatus status;
    std::vector<std::uint8_t> hashes;  // see ShortContent
    std::vector<std::uint8_t> bytes;   // the content, if it is not hashed
  };

  // Empty for anything but a regular file with 1 to `max_bytes` bytes that stayed the same while it was read;
  // after every error; and after a cancellation. A job of another kind says what is wrong.
  std::optional<Hashed>& outcome() { return outcome_; }

 private:
  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  void settle(bool) override {}

  const Request request_;
  const Kernels kernels_;
  std::optional<Hashed> outcome_;
};

}  // namespace metainfo
