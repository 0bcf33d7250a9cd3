#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace metainfo {

// Layers of piece hashes, and where their roots go: 32 bytes each.
struct Layers {
  const std::uint8_t* bytes;
  const double* starts;         // of each layer in bytes: whole numbers, as JavaScript has them
  const std::uint32_t* counts;  // of its hashes, at least 1
  std::size_t layers;
  unsigned height;  // of a piece's tree of blocks
  std::uint8_t* roots;
};

// Fills in the roots, on all cores while the caller waits: the work is some hashes a file, not its content.
void hash_layers(const Layers& layers, const Kernels& kernels);

}  // namespace metainfo
