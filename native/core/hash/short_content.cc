// Hashes all pieces and leaves of a short file side by side.
#include "core/hash/short_content.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/hash/merkle.h"
#include "core/hash/sha.h"

namespace metainfo {
namespace {

// Hashes every part of `length` bytes, and the shorter one at the end, to `out`.
template <typename Sha>
void hash_parts(const ShortContent& content, std::size_t length, const Kernels& kernels, std::uint8_t* out) {
  Messages<Sha> parts;
  for (std::size_t at = 0; at < content.size; at += std::min(length, content.size - at)) {
    parts.add(content.data + at, std::min(length, content.size - at), out);
    out += sizeof(typename Sha::Digest);
  }
  parts.run(kernels);
}

// Writes the pieces root, and the piece layer after it.
void hash_tree(const ShortContent& content, const Kernels& kernels, std::uint8_t* out) {
  const std::size_t leaves = (content.size - 1) / kBlockSize + 1;
  const std::size_t pieces = content.pieces();
  // One hash more: Trees::reduce() pads a layer in place.
  std::vector<std::uint8_t> hashes((leaves + 1) * kHashSize);
  hash_parts<Sha256>(content, kBlockSize, kernels, hashes.data());
  const Trees trees(kernels);
  if (pieces == 1) {
    trees.reduce(hashes.data(), leaves, 0, ceil_log2(leaves));
    std::memcpy(out, hashes.data(), kHashSize);
    return;
  }
  const auto per_piece = static_cast<std::size_t>(content.piece_length / kBlockSize);
  const unsigned height = ceil_log2(per_piece);
  std::uint8_t* const layer = out + kHashSize;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = piece * per_piece;
    const Sha256Digest root =
        trees.root(&hashes[first * kHashSize], std::min(per_piece, leaves - first), 0, height);
    std::memcpy(layer + piece * kHashSize, root.data(), kHashSize);
  }
  const Sha256Digest root = trees.root(layer, pieces, height, ceil_log2(pieces));
  std::memcpy(out, root.data(), kHashSize);
}

}  // namespace

std::size_t ShortContent::hash_bytes() const {
  const std::size_t v1 = version == Version::v2 ? 0 : pieces() * sizeof(Sha1Digest);
  const std::size_t v2 = version == Version::v1 ? 0 : (1 + (pieces() > 1 ? pieces() : 0)) * kHashSize;
  return v1 + v2;
}

void hash_short(const ShortContent& content, const Kernels& kernels, std::uint8_t* out) {
  if (content.version != Version::v2) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(content.piece_length, content.size));
    hash_parts<Sha1>(content, length, kernels, out);
    out += content.pieces() * sizeof(Sha1Digest);
  }
  if (content.version != Version::v1) hash_tree(content, kernels, out);
}

}  // namespace metainfo
