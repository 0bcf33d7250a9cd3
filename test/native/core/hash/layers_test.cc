#include "core/hash/layers.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/hash/merkle.h"
#include "kernel_lists.h"
#include "oracle.h"
#include "scale.h"
#include "test.h"
#include "threads.h"

using metainfo::Kernels;
using oracle::Bytes;
using oracle::Hashes;

namespace {

// Checks the roots of layers with these numbers of hashes and other bytes between them; `reversed`: last to
// first.
void check_layers(const std::vector<std::uint32_t>& counts, unsigned height, bool reversed) {
  Bytes bytes;
  std::vector<double> starts(counts.size());
  Hashes expected(counts.size());
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::size_t i = reversed ? counts.size() - 1 - n : n;
    const Hashes hashes = oracle::hashes(counts[i], i);
    bytes.resize(bytes.size() + i % 3, 0xee);
    starts[i] = static_cast<double>(bytes.size());
    for (const metainfo::Sha256Digest& hash : hashes) bytes.insert(bytes.end(), hash.begin(), hash.end());
    expected[i] = oracle::tree(hashes, height, metainfo::ceil_log2(counts[i]));
  }
  Sample sample;
  for (const Kernels& kernels : kernel_lists()) {
    if (!sample.next()) continue;
    INFO(name_of(kernels), ", ", counts.size(), " layers, height ", height);
    Bytes roots(counts.size() * 32 + 32, 0xc5);
    const Bytes before = bytes;
    metainfo::hash_layers({bytes.data(), starts.data(), counts.data(), counts.size(), height, roots.data()},
                          kernels);
    REQUIRE(bytes == before);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      metainfo::Sha256Digest root;
      std::copy_n(roots.begin() + static_cast<std::ptrdiff_t>(i * 32), 32, root.begin());
      REQUIRE_EQ(root, expected[i]);
    }
    REQUIRE(std::all_of(roots.end() - 32, roots.end(), [](std::uint8_t byte) { return byte == 0xc5; }));
  }
}

}  // namespace

TEST_CASE("layer roots: no layer, one layer, and layers of every number of hashes") {
  check_layers({}, 0, false);
  check_layers({1}, 0, false);
  check_layers({1}, 7, false);
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count <= 150; ++count) counts.push_back(count);
  for (const unsigned height : {0U, 1U, 6U, 14U}) check_layers(counts, height, height % 2 != 0);
}

TEST_CASE("layer roots: long layers, and more layers than a thread takes at once") {
  check_layers({1023, 1024, 1025, 4097, 20000}, 4, false);
  std::vector<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < 1000; ++i) counts.push_back(1 + i * 7 % 61);
  check_layers(counts, 2, false);
}

#ifdef __GLIBC__
TEST_CASE("layer roots: without further threads, the calling thread does the work") {
  const std::size_t before = threads_alive();
  const NoThreads none;
  check_layers({20000, 3, 20000}, 1, false);
  // Joined threads may still be counted for a moment.
  REQUIRE(threads_alive() <= before);
}
#endif
