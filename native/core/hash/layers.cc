// Spreads piece layers over the calling thread and threads of the pool.
#include "core/hash/layers.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "core/hash/merkle.h"
#include "core/threads/thread_pool.h"

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
  const std::uint64_t threads =
      std::min<std::uint64_t>(std::thread::hardware_concurrency(), total / kHashesPerThread);
  ThreadPool::process().run_with_helpers(threads < 2 ? 0 : threads - 1, hash_some);
}

}  // namespace metainfo
