// Splits a request into parts, allocates its digests and combines the hashes of a file into its root.
#include "core/hash/job_state.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/hash/measure.h"

namespace metainfo {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// A limit that keeps sums from overflowing. The digests of so much content would not fit into memory anyway.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
// A part has at least this many bytes, so that taking one costs next to nothing, and at least as many pieces
// as the widest kernel has lanes.
constexpr std::uint64_t kPartBytes = 1 << 20;
// Whether the job was cancelled is looked for once in so many files.
constexpr std::size_t kFilesPerLook = 4096;
// From here on, hashing takes so long that a race of 2 ms costs little.
constexpr std::uint64_t kRaceBytes = std::uint64_t{512} << 20;
// Subtrees of a v2 part: one thread reads this much of a file in order.
constexpr std::uint64_t kPartSubtrees = 64;

// The number of parts of at most `max_units` units. It is a multiple of the number of threads, so that a few
// large pieces spread over threads first, then over lanes.
std::uint64_t count_parts(std::uint64_t units, std::uint64_t max_units, std::uint64_t threads) {
  return std::min(units, ceil_div(ceil_div(units, max_units), threads) * threads);
}

}  // namespace

JobState::JobState(HashRequest request_, const Kernels& kernels_, Progress& progress_)
    : request(std::move(request_)),
      kernels(kernels_),
      progress(progress_),
      trees(kernels),
      piece_height(ceil_log2(request.piece_length / kBlockSize)),
      opened(request.mark_missing ? request.count() : 0),
      missing(request.mark_missing ? request.count() : 0) {
  if (!has_many_files()) lay_out();
}

void JobState::prepare() noexcept {
  if (!has_many_files() && !kernels.race_sha256) return;
  std::call_once(prepared_, [this] {
    try {
      if (has_many_files()) lay_out();
      const std::uint64_t bytes = has_v1() ? end : end * kSubtreeBytes;
      if (kernels.race_sha256 && has_v2() && bytes >= kRaceBytes) race_sha256(kernels);
    } catch (const Failure& error) {
      fail(error);
    } catch (const std::bad_alloc&) {
      fail({Failure::Code::no_memory, 0, {}, {}});
    }
  });
}

void JobState::lay_out() {
  const std::size_t count = request.count();
  const bool in_subtrees = request.version == Version::v2;
  starts.reserve(count);
  std::uint64_t layers = 0;
  std::uint64_t kept_roots = 0;
  if (has_v2()) {
    layer_starts.assign(count, kNoLayer);
    units_left = std::make_unique<std::atomic<std::uint64_t>[]>(count);
  }
  if (in_subtrees) subtree_starts.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kFilesPerLook == 0 && stopped()) return;
    const std::uint64_t length = request.length(i);
    const bool pad = request.is_pad(i);
    if (request.version == Version::hybrid && !pad && length != 0 && end % request.piece_length != 0)
      throw Failure{Failure::Code::internal, 0, request.path(i),
                    "a file of a hybrid request does not start at a piece: add a pad file before it"};
    if (!pad && length == 0) empty_files.push_back(i);
    starts.push_back(end);
    const std::uint64_t subtrees = in_subtrees && !pad ? ceil_div(length, kSubtreeBytes) : 0;
    const std::uint64_t size = in_subtrees ? subtrees : length + request.padding(i);
    if (size > kMaxBytes - end) throw Failure{Failure::Code::no_memory, 0, {}, {}};
    end += size;
    if (!has_v2() || pad) continue;
    if (length > request.piece_length) {
      layer_starts[i] = layers;
      layers += ceil_div(length, request.piece_length) * kHashSize;
    }
    units_left[i] = in_subtrees ? subtrees : ceil_div(length, request.piece_length);
    if (in_subtrees && request.piece_length > kSubtreeBytes && subtrees > 1) {
      subtree_starts[i] = kept_roots;
      kept_roots += subtrees * kHashSize;
    }
  }
  units = in_subtrees ? end : ceil_div(end, request.piece_length);
  parts = in_subtrees
              ? count_parts(units, kPartSubtrees, request.threads)
              : count_parts(units, std::max<std::uint64_t>(kMaxLanes, kPartBytes / request.piece_length),
                            request.threads);
  // Above this, vectors would throw std::length_error instead of std::bad_alloc.
  if (units > (std::uint64_t{1} << 48) || layers > (std::uint64_t{1} << 48)) throw std::bad_alloc();
  if (has_v1()) digests.v1.resize(units * sizeof(Sha1Digest));
  if (has_v2()) {
    digests.roots.resize(count * kHashSize);
    digests.layers.resize(layers);
    subtree_roots.resize(kept_roots);
  }
}

std::size_t JobState::file_at(std::uint64_t position) const {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() -
                                  1);
}

JobState::Part JobState::take_part() {
  const std::uint64_t part = next.fetch_add(1, std::memory_order_relaxed);
  if (part >= parts) return {0, 0};
  // The sizes of parts differ by at most one unit.
  const std::uint64_t size = units / parts;
  const std::uint64_t larger = units % parts;
  const std::uint64_t first = part * size + std::min(part, larger);
  return {first, first + size + (part < larger)};
}

void JobState::fail(Failure value) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!failure) failure = std::move(value);
  stop = true;
}

void JobState::mark_opened(std::size_t file) {
  if (!request.mark_missing) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (missing[file])
    throw Failure{Failure::Code::changed, 0, request.path(file), "it did not exist at first"};
  opened[file] = true;
}

// A file that another worker has opened is not missing: it was deleted while the job ran.
void JobState::mark_missing(std::size_t file) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (opened[file])
    throw Failure{Failure::Code::changed, 0, request.path(file), "it was deleted or replaced"};
  missing[file] = true;
}

void JobState::finish_unit(std::size_t file) {
  if (units_left[file].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::uint64_t length = request.length(file);
  const std::uint64_t pieces = ceil_div(length, request.piece_length);
  Sha256Digest root;
  if (request.version == Version::v2 && request.piece_length > kSubtreeBytes) {
    const std::uint8_t* roots = &subtree_roots[subtree_starts[file]];
    const std::uint64_t count = ceil_div(length, kSubtreeBytes);
    if (layer_starts[file] == kNoLayer) {
      root = trees.root(roots, count, GrowingTree::kSubtreeHeight, ceil_log2(count));
      std::memcpy(root_of(file), root.data(), kHashSize);
      return;
    }
    const std::uint64_t per_piece = request.piece_length / kSubtreeBytes;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      const std::uint64_t first = piece * per_piece;
      const Sha256Digest hash =
          trees.root(roots + first * kHashSize, std::min(per_piece, count - first),
                     GrowingTree::kSubtreeHeight, piece_height - GrowingTree::kSubtreeHeight);
      std::memcpy(layer_of(file) + piece * kHashSize, hash.data(), kHashSize);
    }
  }
  root = trees.root(layer_of(file), pieces, piece_height, ceil_log2(pieces));
  std::memcpy(root_of(file), root.data(), kHashSize);
}

}  // namespace metainfo
