// The plain reference implementation: OpenSSL's SHA of whole messages, and whole trees in memory.
#pragma once

// The one-shot functions would need the whole library, which the musl build does not have.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/hash/sha.h"

namespace oracle {

using Bytes = std::vector<std::uint8_t>;
using Hashes = std::vector<metainfo::Sha256Digest>;

// Bytes with the prime period 251, so that swapped blocks, leaves or pieces change a hash.
inline Bytes content(std::size_t size, std::size_t seed) {
  Bytes bytes(size);
  auto value = static_cast<std::uint8_t>(37 * seed % 251);
  for (std::uint8_t& byte : bytes) {
    byte = value++;
    if (value == 251) value = 0;
  }
  return bytes;
}

inline metainfo::Sha1Digest sha1(const std::uint8_t* data, std::size_t size) {
  metainfo::Sha1Digest digest;
  SHA_CTX context;
  SHA1_Init(&context);
  SHA1_Update(&context, data, size);
  SHA1_Final(digest.data(), &context);
  return digest;
}

inline metainfo::Sha256Digest sha256(const std::uint8_t* data, std::size_t size) {
  metainfo::Sha256Digest digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data, size);
  SHA256_Final(digest.data(), &context);
  return digest;
}

// Padding by FIPS 180-4, 5.1.1: a one bit, zeros, and the length in bits as 8 bytes.
inline Bytes padded(Bytes message) {
  const std::uint64_t bits = message.size() * 8;
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<std::uint8_t>(bits >> shift));
  return message;
}

inline metainfo::Sha256Digest node(const metainfo::Sha256Digest& left, const metainfo::Sha256Digest& right) {
  const metainfo::Sha256Digest pair[2] = {left, right};
  static_assert(sizeof pair == 64, "two hashes are one message");
  return sha256(pair[0].data(), sizeof pair);
}

// The root of a tree over `count` hashes, which must be a power of two.
inline metainfo::Sha256Digest root(const metainfo::Sha256Digest* hashes, std::size_t count) {
  if (count == 1) return *hashes;
  return node(root(hashes, count / 2), root(hashes + count / 2, count / 2));
}

// The root of 2^height leaves of zeros.
inline metainfo::Sha256Digest zeros(unsigned height) {
  metainfo::Sha256Digest hash{};
  for (; height != 0; --height) hash = node(hash, hash);
  return hash;
}

// The root over 2^height hashes of nodes that are `base` levels above the leaves: the given hashes, then
// padding.
inline metainfo::Sha256Digest tree(Hashes level, unsigned base, unsigned height) {
  metainfo::Sha256Digest padding = zeros(base);
  for (; height != 0; --height) {
    if (level.size() % 2 != 0) level.push_back(padding);
    for (std::size_t i = 0; i < level.size() / 2; ++i) level[i] = node(level[2 * i], level[2 * i + 1]);
    level.resize(level.size() / 2);
    padding = node(padding, padding);
  }
  return level.at(0);
}

// `count` different hashes.
inline Hashes hashes(std::size_t count, std::size_t seed = 0) {
  Hashes result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes number = content(16, seed + i);
    result[i] = sha256(number.data(), 1 + (seed + i) % number.size());
    result[i][0] = static_cast<std::uint8_t>(i);
    result[i][1] = static_cast<std::uint8_t>(i >> 8);
  }
  return result;
}

}  // namespace oracle
