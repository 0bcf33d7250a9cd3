// Sorts paths as src/layout/order.ts does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/table/file_columns.h"

namespace metainfo {

// The indexes of `count` paths in the order of a v2 file tree: component by component, by bytes. Equal paths
// keep their order. The result is of no use if `stopped` became true meanwhile; the same holds below.
std::vector<std::uint32_t> v2_order(const PathColumn& paths, std::size_t count,
                                    const std::atomic<bool>& stopped);

// The indexes in v1 order: paths of one component first, then all others, both by lower-cased path and then
// by bytes, with `/` between the components. `lower`: the lower-cased paths, with `/`; null if all paths are
// ASCII.
std::vector<std::uint32_t> v1_order(const PathColumn& paths, const PathColumn* lower, std::size_t count,
                                    const std::atomic<bool>& stopped);

// The first place in v2 order whose path equals the path before it, or leads through it as if it were a
// folder; order.size() if there is none.
std::size_t first_collision(const PathColumn& paths, const std::vector<std::uint32_t>& order);

// Stands for a path that has no counterpart: NO_PATH of src/hash/match-paths.ts.
constexpr std::uint32_t kNoPath = 0xffffffff;

// For each of `count` paths, the index of the same path among `other_count` others, or kNoPath.
std::vector<std::uint32_t> match_paths(const PathColumn& paths, std::size_t count, const PathColumn& others,
                                       std::size_t other_count, const std::atomic<bool>& stopped);

}  // namespace metainfo
