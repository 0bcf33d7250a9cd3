// Spreads piece layers over threads that live only as long as the call.
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

// With fewer hashes than this, a thread costs more than it saves.
constexpr std::uint64_t kHashesPerThread = 4096;
constexpr std::size_t kLayersAtOnce = 64;

}  // namespace

void hash_layers(const Layers& layers, const Kernels& kernels) {
  const Trees trees(kernels);
  const std::uint64_t total = std::accumulate(layers.counts, layers.counts + layers.layers, std::uint64_t{0});
  std::atomic<std::size_t> next{0};
  const auto hash_some = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(kLayersAtOnce, std::memory_order_relaxed);
      if (first >= layers.layers) return;
      for (std::size_t i = first; i < std::min(layers.layers, first + kLayersAtOnce); ++i) {
        const std::uint8_t* hashes = layers.bytes + static_cast<std::uint64_t>(layers.starts[i]);
        const Sha256Digest root =
            trees.root(hashes, layers.counts[i], layers.height, ceil_log2(layers.counts[i]));
        std::copy(root.begin(), root.end(), layers.roots + i * 32);
      }
    }
  };
  std::vector<std::thread> helpers;
  try {
    const std::uint64_t threads =
        std::min<std::uint64_t>(std::thread::hardware_concurrency(), total / kHashesPerThread);
    helpers.reserve(threads);
    for (std::uint64_t i = 1; i < threads; ++i) helpers.emplace_back(hash_some);
  } catch (const std::exception&) {
    // The system cannot start more threads: those that run, or this one alone, do the work.
  }
  hash_some();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace metainfo
