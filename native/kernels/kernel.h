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

// A row may leave functions out: then the rows below it do that work. All of them read every input before
// they write, so that lanes may share one: spare lanes do.
struct Kernel {
  const char* name;
  std::uint32_t needs;  // mask of CPU features (cpu.h); 0 runs everywhere
  std::size_t lanes;    // independent messages that one call advances
  std::size_t least;    // with fewer messages than these, the rows below are faster

  // Advance `lanes` states, each by `blocks` blocks of 64 bytes that start at its own data pointer.
  // Padding is the caller's: a kernel sees whole blocks only.
  void (*sha1_many)(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks);
  void (*sha256_many)(Sha256State* const* states, const std::uint8_t* const* data, std::size_t blocks);

  // The same over blocks of zeros, which need no load and no message schedule: that stays zero.
  void (*sha1_zeros)(Sha1State* const* states, std::size_t blocks);

  // Merkle nodes: lane i is the SHA-256 of the 64 bytes at pairs + 64 * i, and goes to out + 32 * i. Their
  // second block is constant padding, and so is its schedule. `out` may be `pairs`.
  void (*sha256_nodes)(std::uint8_t* out, const std::uint8_t* pairs);
};

constexpr std::size_t kMostLanes = 16;
constexpr std::size_t kMostRows = 8;

// Rows of the table from one of them downwards: each hands the messages that are too few for it to the next.
// The last one takes a single message, and does everything.
struct Kernels {
  const Kernel* rows[kMostRows];
  std::size_t count;
};

// The rows that this CPU can run, best first. `row` is the index among them; past the end: null.
const Kernel* runnable_kernel(std::size_t row);

// All runnable rows or, when `forced` is neither null nor empty, those from the one of that name downwards.
// False when there is none.
bool select_kernels(const char* forced, Kernels& kernels);

}  // namespace metainfo
