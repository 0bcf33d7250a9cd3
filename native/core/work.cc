#include "core/work.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace metainfo {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// Far more than digests of it would fit into memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
// At least as many pieces as the widest kernel has lanes, and enough bytes that handing out costs nothing.
constexpr std::uint64_t kBatchBytes = 1 << 20;
// Runs of a v2 batch: one thread reads so much of a file in order.
constexpr std::uint64_t kBatchRuns = 64;

// Batches of at most `most` units, but a whole number for each thread: so few big pieces spread over threads
// first, then over lanes.
std::uint64_t count_batches(std::uint64_t units, std::uint64_t most, std::uint64_t threads) {
  return std::min(units, ceil_div(ceil_div(units, most), threads) * threads);
}

}  // namespace

Work::Work(Plan plan_, const Kernels& kernels_, Gauge& gauge_)
    : plan(std::move(plan_)),
      kernels(kernels_),
      gauge(gauge_),
      trees(kernels),
      piece_height(ceil_log2(plan.piece_length / kBlockSize)),
      opened(plan.files.size()),
      missing(plan.files.size()) {
  const std::size_t count = plan.files.size();
  const bool in_runs = plan.version == Version::v2;
  starts.reserve(count);
  std::uint64_t layers = 0;
  std::uint64_t runs_kept = 0;
  if (has_v2()) {
    layer_starts.assign(count, kNoLayer);
    parts_left = std::make_unique<std::atomic<std::uint64_t>[]>(count);
  }
  if (in_runs) run_starts.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const PlanFile& file = plan.files[i];
    if (plan.version == Version::hybrid && !file.pad && file.length != 0 && end % plan.piece_length != 0)
      throw Failure{Failure::Code::internal, 0, file.path, "a hybrid plan must align its files with pads"};
    if (!file.pad && file.length == 0) empty_files.push_back(i);
    starts.push_back(end);
    const std::uint64_t runs = in_runs && !file.pad ? ceil_div(file.length, kRunBytes) : 0;
    const std::uint64_t size = in_runs ? runs : file.length;
    if (size > kMostBytes - end) throw Failure{Failure::Code::no_memory, 0, {}, {}};
    end += size;
    if (!has_v2() || file.pad) continue;
    if (file.length > plan.piece_length) {
      layer_starts[i] = layers;
      layers += ceil_div(file.length, plan.piece_length) * kHashSize;
    }
    parts_left[i] = in_runs ? runs : ceil_div(file.length, plan.piece_length);
    if (in_runs && plan.piece_length > kRunBytes && runs > 1) {
      run_starts[i] = runs_kept;
      runs_kept += runs * kHashSize;
    }
  }
  units = in_runs ? end : ceil_div(end, plan.piece_length);
  batches = in_runs
                ? count_batches(units, kBatchRuns, plan.threads)
                : count_batches(units, std::max<std::uint64_t>(kMostLanes, kBatchBytes / plan.piece_length),
                                plan.threads);
  // Past this, vectors throw something else.
  if (units > (std::uint64_t{1} << 48) || layers > (std::uint64_t{1} << 48)) throw std::bad_alloc();
  if (has_v1()) digests.v1.resize(units * sizeof(Sha1Digest));
  if (has_v2()) {
    digests.roots.resize(count * kHashSize);
    digests.layers.resize(layers);
    run_roots.resize(runs_kept);
  }
}

std::size_t Work::file_at(std::uint64_t place) const {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), place) - starts.begin() - 1);
}

Work::Batch Work::take() {
  const std::uint64_t batch = next.fetch_add(1, std::memory_order_relaxed);
  if (batch >= batches) return {0, 0};
  // Their sizes differ by at most one.
  const std::uint64_t size = units / batches;
  const std::uint64_t larger = units % batches;
  const std::uint64_t first = batch * size + std::min(batch, larger);
  return {first, first + size + (batch < larger)};
}

void Work::fail(Failure value) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!failure) failure = std::move(value);
  stop = true;
}

void Work::mark_opened(std::size_t file) {
  if (!plan.mark_missing) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (missing[file])
    throw Failure{Failure::Code::changed, 0, plan.files[file].path, "it was not there before"};
  opened[file] = true;
}

// A file that another worker has read from is not missing but gone.
void Work::mark_missing(std::size_t file) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (opened[file])
    throw Failure{Failure::Code::changed, 0, plan.files[file].path, "it was deleted or replaced"};
  missing[file] = true;
}

void Work::finish_part(std::size_t file) {
  if (parts_left[file].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::uint64_t length = plan.files[file].length;
  const std::uint64_t pieces = ceil_div(length, plan.piece_length);
  Sha256Digest root;
  if (plan.version == Version::v2 && plan.piece_length > kRunBytes) {
    const std::uint8_t* runs = &run_roots[run_starts[file]];
    const std::uint64_t count = ceil_div(length, kRunBytes);
    if (layer_starts[file] == kNoLayer) {
      root = trees.root(runs, count, GrowingTree::kRunHeight, ceil_log2(count));
      std::memcpy(root_of(file), root.data(), kHashSize);
      return;
    }
    const std::uint64_t per_piece = plan.piece_length / kRunBytes;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      const std::uint64_t first = piece * per_piece;
      const Sha256Digest hash = trees.root(runs + first * kHashSize, std::min(per_piece, count - first),
                                           GrowingTree::kRunHeight, piece_height - GrowingTree::kRunHeight);
      std::memcpy(layer_of(file) + piece * kHashSize, hash.data(), kHashSize);
    }
  }
  root = trees.root(layer_of(file), pieces, piece_height, ceil_log2(pieces));
  std::memcpy(root_of(file), root.data(), kHashSize);
}

}  // namespace metainfo
