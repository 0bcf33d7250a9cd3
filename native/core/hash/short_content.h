// Hashes short content in memory on the calling thread, without a job.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hash/hash_request.h"
#include "kernels/kernel.h"

namespace metainfo {

// One file in memory.
struct ShortContent {
  const std::uint8_t* data;
  std::size_t size;            // at least 1
  std::uint64_t piece_length;  // a power of two, at least kBlockSize
  Version version;

  std::size_t pieces() const { return static_cast<std::size_t>((size - 1) / piece_length + 1); }
  // Bytes of all hashes: the SHA-1 of each piece (v1 and hybrid), then the pieces root and, if there is more
  // than one piece, the piece layer (v2 and hybrid).
  std::size_t hash_bytes() const;
};

// Writes hash_bytes() to `out`. Reads the content in place. Throws std::bad_alloc.
void hash_short(const ShortContent& content, const Kernels& kernels, std::uint8_t* out);

}  // namespace metainfo
