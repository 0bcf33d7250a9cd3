#include "core/hash/short_content.h"

#include <algorithm>
#include <vector>

#include "kernel_lists.h"
#include "oracle.h"
#include "plans.h"
#include "test.h"

using metainfo::ShortContent;
using metainfo::Version;
using requests::kBlock;

namespace {

// The v1 hash of each piece, then the pieces root, then the layer of a file with several pieces.
oracle::Bytes expected(const oracle::Bytes& content, std::uint64_t piece_length, Version version) {
  oracle::Bytes hashes;
  if (version != Version::v2) {
    for (std::size_t at = 0; at < content.size(); at += piece_length) {
      const auto piece = oracle::sha1(&content[at], std::min<std::size_t>(piece_length, content.size() - at));
      hashes.insert(hashes.end(), piece.begin(), piece.end());
    }
  }
  if (version == Version::v1) return hashes;
  oracle::Bytes root(metainfo::kHashSize);
  oracle::Bytes layer;
  requests::expect_tree(content, piece_length, root.data(), layer);
  hashes.insert(hashes.end(), root.begin(), root.end());
  hashes.insert(hashes.end(), layer.begin(), layer.end());
  return hashes;
}

}  // namespace

TEST_CASE("hash_short() gives the hashes of one file, with every kernel") {
  for (const metainfo::Kernels& kernels : kernel_lists()) {
    for (const std::size_t size : {std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock, 3 * kBlock + 7,
                                   4 * kBlock - 1, 4 * kBlock}) {
      const oracle::Bytes content = oracle::content(size, size);
      for (const std::uint64_t piece_length : {kBlock, 2 * kBlock, 4 * kBlock, 1024 * kBlock}) {
        for (const Version version : requests::kVersions) {
          INFO(name_of(kernels), ", ", requests::name_of(version), ", ", size, " bytes, pieces of ",
               piece_length);
          const ShortContent given{content.data(), content.size(), piece_length, version};
          oracle::Bytes hashes(given.hash_bytes());
          metainfo::hash_short(given, kernels, hashes.data());
          REQUIRE_EQ(hashes, expected(content, piece_length, version));
        }
      }
    }
  }
}
