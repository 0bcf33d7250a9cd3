// Merkle roots of many piece layers that are already in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace metainfo {

// Piece layers, and where to write their roots, 32 bytes each.
struct Layers {
  const std::uint8_t* bytes;
  const double* starts;         // offset of each layer in `bytes`: whole numbers, as JavaScript stores them
  const std::uint32_t* counts;  // hashes of each layer, at least 1
  std::size_t layers;           // their number
  unsigned height;              // height of a piece's tree of blocks
  std::uint8_t* roots;
};

// Computes the roots on all cores while the caller waits: this hashes only layers, never content.
void hash_layers(const Layers& layers, const Kernels& kernels);

}  // namespace metainfo
