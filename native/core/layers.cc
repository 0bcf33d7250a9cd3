#include "core/layers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

#include "core/merkle.h"

namespace metainfo {
namespace {

// Below this many hashes a thread costs more than it saves.
constexpr std::uint64_t kHashesPerThread = 4096;
constexpr std::size_t kBatch = 64;

}  // namespace

void hash_layers(const Layers& layers, const Kernels& kernels) {
  const Trees trees(kernels);
  const std::uint64_t total = std::accumulate(layers.counts, layers.counts + layers.layers, std::uint64_t{0});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(kBatch, std::memory_order_relaxed);
      if (first >= layers.layers) return;
      for (std::size_t i = first; i < std::min(layers.layers, first + kBatch); ++i) {
        const std::uint8_t* hashes = layers.bytes + static_cast<std::uint64_t>(layers.starts[i]);
        const Sha256Digest root =
            trees.root(hashes, layers.counts[i], layers.height, ceil_log2(layers.counts[i]));
        std::copy(root.begin(), root.end(), layers.roots + i * 32);
      }
    }
  };
  std::vector<std::thread> helpers;
  try {
    const std::uint64_t wanted =
        std::min<std::uint64_t>(std::thread::hardware_concurrency(), total / kHashesPerThread);
    helpers.reserve(wanted);
    for (std::uint64_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
  } catch (const std::exception&) {
    // The system has no thread, or no memory for one, to give: this one does the work.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace metainfo
