// A kernel is a row in a table: leaf code that advances several independent SHA states at once.
// No allocation, no exception and no STL container in this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metainfo {

// The chaining values of FIPS 180-4, in native byte order.
struct Sha1State {
  std::uint32_t h[5];
};
struct Sha256State {
  std::uint32_t h[8];
};

struct Kernel {
  const char* name;
  std::uint32_t needs;  // mask of CPU features; 0 runs everywhere
  std::size_t lanes;    // independent messages that one call advances
  // Advance `lanes` states, each by `blocks` blocks of 64 bytes that start at its own data pointer.
  // Padding is the caller's: a kernel sees whole blocks only.
  void (*sha1_many)(Sha1State* states, const std::uint8_t* const* data, std::size_t blocks);
  void (*sha256_many)(Sha256State* states, const std::uint8_t* const* data, std::size_t blocks);
};

// The rows of openssl.cc.
void openssl_sha1_many(Sha1State* states, const std::uint8_t* const* data, std::size_t blocks);
void openssl_sha256_many(Sha256State* states, const std::uint8_t* const* data, std::size_t blocks);

// The rows that this CPU can run, best first. `row` is the index among them; past the end: null.
const Kernel* runnable_kernel(std::size_t row);

// The row to use: the best one or, when `forced` is neither null nor empty, the one of that name.
// Null when no runnable row has that name.
const Kernel* select_kernel(const char* forced);

}  // namespace metainfo
