// The worker for v2 requests: hashes leaves side by side.
//
// It fills one buffer with subtrees of 64 leaves, of several files if they are small, and hashes all their
// leaves at once.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hash/sha.h"
#include "core/hash/worker.h"

namespace metainfo {
namespace {

constexpr std::size_t kLeaf = kBlockSize;

class LeafWorker final : public Worker {
 public:
  LeafWorker(JobState& job, WorkerThread* thread)
      : Worker(job, thread),
        read_size_(worker_shape(job.request).read_size),
        capacity_(worker_shape(job.request).bytes()),
        memory_(new std::uint8_t[capacity_]),
        hashes_(new std::uint8_t[(capacity_ / kLeaf + 1) * kSubtreeHashBytes]) {}

 private:
  struct Subtree {
    std::size_t file;
    std::uint64_t index;  // in its file
    std::uint64_t offset;
    std::size_t size;      // in bytes
    std::uint8_t* hashes;  // hashes of its leaves, with room for one more
  };

  void hash(const JobState::Part& part) override {
    std::size_t file = job_.file_at(part.first);
    for (std::uint64_t position = part.first; position < part.last; ++position) {
      while (file + 1 < job_.starts.size() && job_.starts[file + 1] <= position) ++file;
      if (!read(file, position - job_.starts[file])) return;
    }
    flush();
  }

  // Reads a subtree into the buffer. Returns false if the job has stopped.
  bool read(std::size_t file, std::uint64_t index) {
    const std::uint64_t length = job_.request.length(file);
    const std::uint64_t offset = index * JobState::kSubtreeBytes;
    const auto size = static_cast<std::size_t>(std::min(JobState::kSubtreeBytes, length - offset));
    // A subtree that does not fit into the rest of the buffer starts in an empty one. If it is larger than
    // the whole buffer, it is hashed in several steps.
    if (filled_ != 0 && filled_ + size > capacity_) flush();
    subtrees_.push_back({file, index, offset, size, &hashes_[subtrees_.size() * kSubtreeHashBytes]});
    const Subtree& subtree = subtrees_.back();
    for (std::size_t at = 0; at < size;) {
      if (job_.stopped()) return false;
      if (filled_ == capacity_) hash_leaves();
      const std::size_t count = std::min({size - at, read_size_, capacity_ - filled_});
      const Reader* reader = files_.get(file);
      if (reader == nullptr) {
        subtrees_.pop_back();
        return true;
      }
      if (cold() && length > kPrefetchBytes) prefetch(*reader, file, offset + at);
      time_read([&] {
        reader->read(offset + at, &memory_[filled_], count);
        return count;
      });
      job_.progress.add_bytes(count);
      for (std::size_t leaf = 0; leaf < count; leaf += kLeaf)
        leaves_.add(&memory_[filled_ + leaf], std::min(kLeaf, count - leaf),
                    subtree.hashes + (at + leaf) / kLeaf * kHashSize);
      filled_ += (count + kLeaf - 1) / kLeaf * kLeaf;
      at += count;
    }
    if (offset + size == length) files_.close(file);
    return true;
  }

  // Keeps the prefetched range of a file, which is read in order, some reads ahead of `position`.
  void prefetch(const Reader& reader, std::size_t file, std::uint64_t position) {
    constexpr std::uint64_t kDistance = 4 * kPrefetchBytes;
    if (file != prefetched_file_ || prefetched_ < position || prefetched_ > position + kDistance)
      prefetched_ = position;
    prefetched_file_ = file;
    const std::uint64_t end = std::min(job_.request.length(file), position + kDistance);
    if (prefetched_ + kPrefetchBytes > end && end != job_.request.length(file)) return;
    if (prefetched_ < end) reader.will_need(prefetched_, end - prefetched_);
    prefetched_ = end;
  }

  void hash_leaves() {
    leaves_.run(job_.kernels);
    filled_ = 0;
  }

  void flush() {
    hash_leaves();
    for (const Subtree& subtree : subtrees_) finish(subtree);
    subtrees_.clear();
  }

  void finish(const Subtree& subtree) {
    const std::size_t leaves = (subtree.size + kLeaf - 1) / kLeaf;
    const Trees& trees = job_.trees;
    const bool layered = job_.layer_starts[subtree.file] != JobState::kNoLayer;
    if (!layered && job_.request.length(subtree.file) <= JobState::kSubtreeBytes) {
      trees.reduce(subtree.hashes, leaves, 0, ceil_log2(leaves));
      std::memcpy(job_.root_of(subtree.file), subtree.hashes, kHashSize);
      return;
    }
    if (job_.request.piece_length > JobState::kSubtreeBytes) {
      trees.reduce(subtree.hashes, leaves, 0, GrowingTree::kSubtreeHeight);
      std::memcpy(&job_.subtree_roots[job_.subtree_starts[subtree.file] + subtree.index * kHashSize],
                  subtree.hashes, kHashSize);
    } else {
      const std::size_t per_piece = std::size_t{1} << job_.piece_height;
      const std::uint64_t first_piece = subtree.index * (GrowingTree::kSubtreeLeaves / per_piece);
      std::uint8_t* out = job_.layer_of(subtree.file) + first_piece * kHashSize;
      for (std::size_t leaf = 0; leaf < leaves; leaf += per_piece, out += kHashSize) {
        std::uint8_t* hashes = subtree.hashes + leaf * kHashSize;
        trees.reduce(hashes, std::min(per_piece, leaves - leaf), 0, job_.piece_height);
        std::memcpy(out, hashes, kHashSize);
      }
    }
    job_.finish_unit(subtree.file);
  }

  static constexpr std::size_t kSubtreeHashBytes = (GrowingTree::kSubtreeLeaves + 1) * kHashSize;

  const std::size_t read_size_;
  const std::size_t capacity_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::unique_ptr<std::uint8_t[]> hashes_;  // of as many subtrees as leaves fit into the buffer
  std::size_t filled_ = 0;
  std::vector<Subtree> subtrees_;
  std::size_t prefetched_file_ = 0;
  std::uint64_t prefetched_ = 0;  // the end of the prefetched range of that file
  Messages<Sha256> leaves_;
};

}  // namespace

std::unique_ptr<Worker> make_leaf_worker(JobState& job, WorkerThread* thread) {
  return std::make_unique<LeafWorker>(job, thread);
}

}  // namespace metainfo
