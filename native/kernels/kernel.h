// The interface of kernels: functions that advance several independent SHA states at once.
//
// Code in this folder allocates nothing, throws nothing and uses no containers.
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

// One implementation for an instruction set. A function may be null: then kernels further down the list do
// its work. All functions read every input before they write, so that several lanes may share one state or
// input: spare lanes do.
struct Kernel {
  const char* name;
  std::uint32_t needs;       // mask of CPU features (cpu.h); 0 runs on every CPU
  std::uint32_t lacks;       // mask of CPU features; on a CPU that has one, another entry is faster
  std::size_t lanes;         // independent messages that one call advances
  std::size_t min_messages;  // with fewer messages, the kernels further down the list are faster

  // Advance `lanes` states, each by `blocks` blocks of 64 bytes that start at its own data pointer.
  // The caller does the padding: a kernel sees only whole blocks.
  void (*sha1_many)(Sha1State* const* states, const std::uint8_t* const* data, std::size_t blocks);
  void (*sha256_many)(Sha256State* const* states, const std::uint8_t* const* data, std::size_t blocks);

  // The same over blocks of zeros, which need no loads and no message schedule, because that is zero too.
  void (*sha1_zeros)(Sha1State* const* states, std::size_t blocks);

  // Merkle nodes: lane i writes the SHA-256 of the 64 bytes at pairs + 64 * i to out + 32 * i. The second
  // block is constant padding with a constant schedule. `out` may be equal to `pairs`.
  void (*sha256_nodes)(std::uint8_t* out, const std::uint8_t* pairs);
};

constexpr std::size_t kMaxLanes = 16;
constexpr std::size_t kMaxKernels = 8;

// A list of kernels, best first. Each leaves the messages that are too few for it to the next one. The last
// kernel takes a single message and has all functions.
struct Kernels {
  const Kernel* list[kMaxKernels];
  std::size_t count;
  std::size_t first_sha256 = 0;  // SHA-256 and nodes use the list from here on
  bool race_sha256 = false;      // whether a large job should race kernels to correct first_sha256
};

// The kernels that this CPU can run, best first, by index. Returns null past the end.
const Kernel* runnable_kernel(std::size_t index);

// Selects all runnable kernels, or, if `forced` is neither null nor empty, those from the kernel of that name
// on. Returns false if no runnable kernel has that name.
//
// Unless a kernel is forced, SHA-256 starts with the kernel that won the race, if there was one.
bool select_kernels(const char* forced, Kernels& kernels);

// Stores the result of the race for this process, as an index into the list of all runnable kernels.
void set_first_sha256(std::size_t index);

}  // namespace metainfo
