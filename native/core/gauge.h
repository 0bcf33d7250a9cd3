// The two things that cross a running job's border: how far it is, and that it shall stop.
#pragma once

#include <atomic>
#include <cstdint>

namespace metainfo {

struct Gauge {
  std::atomic<std::uint64_t> bytes{0};  // of content, pads apart
  std::atomic<std::uint32_t> file_index{0};
  std::atomic<bool> cancelled{false};  // checked before every buffer
};

}  // namespace metainfo
