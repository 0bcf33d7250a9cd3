// What the core computes, computed plainly: OpenSSL's one-shot calls, whole trees in memory.
#pragma once

#include <openssl/sha.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sha.h"

namespace oracle {

using Bytes = std::vector<std::uint8_t>;
using Hashes = std::vector<metainfo::Sha256Digest>;

// Bytes whose period, 251, is prime: blocks, leaves and pieces that change places cannot hide.
inline Bytes content(std::size_t size, std::size_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i + 37 * seed) % 251);
  return bytes;
}

inline metainfo::Sha1Digest sha1(const std::uint8_t* data, std::size_t size) {
  metainfo::Sha1Digest digest;
  ::SHA1(data, size, digest.data());
  return digest;
}

inline metainfo::Sha256Digest sha256(const std::uint8_t* data, std::size_t size) {
  metainfo::Sha256Digest digest;
  ::SHA256(data, size, digest.data());
  return digest;
}

// The root of a tree over `count` hashes, a power of two of them.
inline metainfo::Sha256Digest root(const metainfo::Sha256Digest* hashes, std::size_t count) {
  if (count == 1) return *hashes;
  const metainfo::Sha256Digest pair[2] = {root(hashes, count / 2), root(hashes + count / 2, count / 2)};
  static_assert(sizeof pair == 64, "two hashes are one message");
  return sha256(pair[0].data(), sizeof pair);
}

}  // namespace oracle
