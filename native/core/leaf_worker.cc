// v2: leaves side by side. A buffer is filled run by run, with the runs of several files where they are
// small, and hashed whole.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/sha.h"
#include "core/worker.h"

namespace metainfo {
namespace {

constexpr std::size_t kLeaf = kBlockSize;

class LeafWorker final : public Worker {
 public:
  LeafWorker(Work& work, Seat* seat)
      : Worker(work, seat),
        slice_(worker_shape(work.plan).slice),
        capacity_(worker_shape(work.plan).bytes()),
        memory_(new std::uint8_t[capacity_]),
        hashes_(new std::uint8_t[(capacity_ / kLeaf + 1) * kRunHashes]) {}

 private:
  struct Run {
    std::size_t file;
    std::uint64_t index;  // in its file
    std::uint64_t offset;
    std::size_t size;      // in bytes
    std::uint8_t* hashes;  // of its leaves, with room for one more
  };

  void hash(const Work::Batch& batch) override {
    std::size_t file = work_.file_at(batch.first);
    for (std::uint64_t place = batch.first; place < batch.last; ++place) {
      while (file + 1 < work_.starts.size() && work_.starts[file + 1] <= place) ++file;
      if (!read(file, place - work_.starts[file])) return;
    }
    flush();
  }

  // False when the job was stopped.
  bool read(std::size_t file, std::uint64_t index) {
    const std::uint64_t length = work_.plan.files[file].length;
    const std::uint64_t offset = index * Work::kRunBytes;
    const auto size = static_cast<std::size_t>(std::min(Work::kRunBytes, length - offset));
    // A run that does not fit whole starts in an empty buffer, and goes through it in parts.
    if (filled_ != 0 && filled_ + size > capacity_) flush();
    runs_.push_back({file, index, offset, size, &hashes_[runs_.size() * kRunHashes]});
    const Run& run = runs_.back();
    for (std::size_t at = 0; at < size;) {
      if (work_.stopped()) return false;
      if (filled_ == capacity_) hash_leaves();
      const std::size_t count = std::min({size - at, slice_, capacity_ - filled_});
      const Reader* reader = files_.get(file);
      if (reader == nullptr) {
        runs_.pop_back();
        return true;
      }
      if (cold() && length > kAhead) announce(*reader, file, offset + at);
      watch([&] {
        reader->read(offset + at, &memory_[filled_], count);
        return count;
      });
      work_.gauge.bytes.fetch_add(count, std::memory_order_relaxed);
      for (std::size_t leaf = 0; leaf < count; leaf += kLeaf)
        leaves_.add(&memory_[filled_ + leaf], std::min(kLeaf, count - leaf),
                    run.hashes + (at + leaf) / kLeaf * kHashSize);
      filled_ += (count + kLeaf - 1) / kLeaf * kLeaf;
      at += count;
    }
    if (offset + size == length) files_.close(file);
    return true;
  }

  // Keeps some reads ahead of a place in a file that is read in order.
  void announce(const Reader& reader, std::size_t file, std::uint64_t place) {
    constexpr std::uint64_t kDistance = 4 * kAhead;
    if (file != announced_file_ || announced_ < place || announced_ > place + kDistance) announced_ = place;
    announced_file_ = file;
    const std::uint64_t end = std::min(work_.plan.files[file].length, place + kDistance);
    if (announced_ + kAhead > end && end != work_.plan.files[file].length) return;
    if (announced_ < end) reader.will_need(announced_, end - announced_);
    announced_ = end;
  }

  void hash_leaves() {
    leaves_.run(work_.kernels);
    filled_ = 0;
  }

  void flush() {
    hash_leaves();
    for (const Run& run : runs_) finish(run);
    runs_.clear();
  }

  void finish(const Run& run) {
    const std::size_t leaves = (run.size + kLeaf - 1) / kLeaf;
    const Trees& trees = work_.trees;
    const bool layered = work_.layer_starts[run.file] != Work::kNoLayer;
    if (!layered && work_.plan.files[run.file].length <= Work::kRunBytes) {
      trees.reduce(run.hashes, leaves, 0, ceil_log2(leaves));
      std::memcpy(work_.root_of(run.file), run.hashes, kHashSize);
      return;
    }
    if (work_.plan.piece_length > Work::kRunBytes) {
      trees.reduce(run.hashes, leaves, 0, GrowingTree::kRunHeight);
      std::memcpy(&work_.run_roots[work_.run_starts[run.file] + run.index * kHashSize], run.hashes,
                  kHashSize);
    } else {
      const std::size_t per_piece = std::size_t{1} << work_.piece_height;
      const std::uint64_t first_piece = run.index * (GrowingTree::kRun / per_piece);
      std::uint8_t* out = work_.layer_of(run.file) + first_piece * kHashSize;
      for (std::size_t leaf = 0; leaf < leaves; leaf += per_piece, out += kHashSize) {
        std::uint8_t* hashes = run.hashes + leaf * kHashSize;
        trees.reduce(hashes, std::min(per_piece, leaves - leaf), 0, work_.piece_height);
        std::memcpy(out, hashes, kHashSize);
      }
    }
    work_.finish_part(run.file);
  }

  static constexpr std::size_t kRunHashes = (GrowingTree::kRun + 1) * kHashSize;

  const std::size_t slice_;
  const std::size_t capacity_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::unique_ptr<std::uint8_t[]> hashes_;  // for as many runs as leaves fit into the buffer
  std::size_t filled_ = 0;
  std::vector<Run> runs_;
  std::size_t announced_file_ = 0;
  std::uint64_t announced_ = 0;  // up to this place in it
  Messages<Sha256> leaves_;
};

}  // namespace

std::unique_ptr<Worker> make_leaf_worker(Work& work, Seat* seat) {
  return std::make_unique<LeafWorker>(work, seat);
}

}  // namespace metainfo
