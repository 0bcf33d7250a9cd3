// Progress and cancellation of a running job: the only state that its workers and the JavaScript thread
// share.
#pragma once

#include <atomic>
#include <cstdint>

namespace metainfo {

struct Progress {
  // Bytes of content that all jobs of the process have hashed.
  static inline std::atomic<std::uint64_t> total_bytes{0};

  std::atomic<std::uint64_t> bytes{0};       // bytes of content hashed, without pad files
  std::atomic<std::uint32_t> file_index{0};  // the file of the request that was opened last
  std::atomic<bool> cancelled{false};        // workers check it before they fill a buffer

  void add_bytes(std::uint64_t count) {
    bytes.fetch_add(count, std::memory_order_relaxed);
    total_bytes.fetch_add(count, std::memory_order_relaxed);
  }
};

}  // namespace metainfo
