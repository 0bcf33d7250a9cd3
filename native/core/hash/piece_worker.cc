// The worker for v1 and hybrid requests: hashes as many pieces side by side as the widest kernel has lanes.
//
// Each lane reads its piece into a buffer of its own, one read at a time; the buffers are hashed together.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/hash/sha.h"
#include "core/hash/worker.h"

namespace metainfo {
namespace {

// How many blocks of zeros are hashed between two checks for cancellation: a pad file may have terabytes.
constexpr std::uint64_t kZeroBlocks = 1 << 16;

struct Lane {
  explicit Lane(const Trees& trees) : tree(trees) {}

  std::uint64_t left() const { return content - done; }

  std::uint64_t piece = 0;
  std::uint64_t start = 0;    // position of the piece
  std::uint64_t length = 0;   // of the piece
  std::uint64_t content = 0;  // bytes to read; zeros follow up to the length
  std::uint64_t done = 0;     // bytes read so far
  std::size_t file = 0;       // the file of the next byte
  std::size_t first_file = 0;
  bool complete = true;  // none of its files is missing
  std::uint8_t* buffer = nullptr;
  std::size_t filled = 0;  // bytes of content in the buffer
  Sha1State state = Sha1::kInitial;
  std::uint64_t hashed = 0;  // bytes of the piece that the state covers
  Tail tail;
  GrowingTree tree;
};

class PieceWorker final : public Worker {
 public:
  PieceWorker(JobState& job, WorkerThread* thread)
      : Worker(job, thread),
        shape_(worker_shape(job.request)),
        memory_(new std::uint8_t[shape_.lanes * (shape_.read_size + kLaneGap)]) {
    lanes_.reserve(shape_.lanes);
    for (std::size_t i = 0; i < shape_.lanes; ++i) {
      lanes_.emplace_back(job.trees);
      lanes_[i].buffer = &memory_[i * (shape_.read_size + kLaneGap)];
    }
  }

 private:
  void hash(const JobState::Part& part) override {
    for (std::uint64_t piece = part.first; piece < part.last; piece += used_) {
      used_ = static_cast<std::size_t>(std::min<std::uint64_t>(shape_.lanes, part.last - piece));
      for (std::size_t i = 0; i < used_; ++i) begin(lanes_[i], piece + i);
      if (cold()) prefetch(part);
      while (read_lanes()) hash_lanes();
      if (!hash_zeros()) return;
      finish_pieces();
    }
  }

  void begin(Lane& lane, std::uint64_t piece) {
    const HashRequest& request = job_.request;
    lane.piece = piece;
    lane.start = piece * request.piece_length;
    lane.length = std::min(request.piece_length, job_.end - lane.start);
    lane.file = lane.first_file = job_.file_at(lane.start);
    lane.done = lane.hashed = 0;
    lane.complete = true;
    lane.state = Sha1::kInitial;
    lane.tree.clear();
    // The content ends with the last file that has any; pad files after it are zeros.
    std::size_t last = job_.file_at(lane.start + lane.length - 1);
    while (last > lane.first_file && (request.is_pad(last) || request.length(last) == 0)) --last;
    const std::uint64_t end = job_.starts[last] + request.length(last);
    lane.content = request.is_pad(last) || end <= lane.start ? 0 : std::min(lane.length, end - lane.start);
    if (lane.content != 0) return;
    lane.tail.set_zeros(lane.length);
    if (!is_zero_piece(lane)) return;
    const std::lock_guard<std::mutex> lock(job_.mutex);
    if (!job_.zero_piece) return;
    lane.state = *job_.zero_piece;
    lane.hashed = lane.length / kShaBlock * kShaBlock;
  }

  // Prefetches the start of each lane's piece, and of the pieces of the part that this worker probably takes
  // next: the other threads take the parts in between.
  void prefetch(const JobState::Part& part) {
    const std::uint64_t distance =
        (part.last - part.first) * job_.request.threads * job_.request.piece_length;
    for (std::size_t i = 0; i < used_; ++i) prefetch(lanes_[i], 0, 2 * kPrefetchBytes);
    for (std::size_t i = 0; i < used_; ++i) prefetch(lanes_[i], distance, 2 * kPrefetchBytes);
  }

  // Prefetches `size` bytes that start `from` bytes into the lane's piece, as far as they are in its file.
  void prefetch(const Lane& lane, std::uint64_t from, std::uint64_t size) {
    const std::uint64_t length = job_.request.length(lane.file);
    const std::uint64_t offset = lane.start - std::min(lane.start, job_.starts[lane.file]) + from;
    if (job_.request.is_pad(lane.file) || lane.start < job_.starts[lane.file] || offset >= length) return;
    size = std::min({size, length - offset, job_.request.piece_length});
    if (const Reader* reader = files_.get(lane.file)) reader->will_need(offset, size);
  }

  // Reads the next bytes of every lane. Returns false if no lane has any left, or the job has stopped.
  bool read_lanes() {
    bool any = false;
    time_read([&] {
      any = fill_lanes();
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < used_; ++i) bytes += lanes_[i].filled;
      return bytes;
    });
    return any;
  }

  bool fill_lanes() {
    bool any = false;
    for (std::size_t i = 0; i < used_; ++i) {
      Lane& lane = lanes_[i];
      lane.filled = static_cast<std::size_t>(std::min<std::uint64_t>(shape_.read_size, lane.left()));
      if (lane.filled == 0) continue;
      if (job_.stopped()) return false;
      const std::uint64_t before = lane.done / kPrefetchBytes;
      fill(lane);
      // A long piece is prefetched step by step, always one step ahead.
      if (cold() && lane.done / kPrefetchBytes != before && lane.left() > kPrefetchBytes)
        prefetch(lane, (lane.done / kPrefetchBytes + 1) * kPrefetchBytes, kPrefetchBytes);
      any = true;
    }
    return any;
  }

  void fill(Lane& lane) {
    for (std::size_t at = 0; at < lane.filled;) {
      const std::uint64_t length = job_.request.length(lane.file);
      const std::uint64_t offset = lane.start + lane.done - job_.starts[lane.file];
      if (offset == length) {
        ++lane.file;
        continue;
      }
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(lane.filled - at, length - offset));
      if (job_.request.is_pad(lane.file)) {
        std::memset(lane.buffer + at, 0, count);
      } else {
        if (const Reader* reader = files_.get(lane.file)) {
          reader->read(offset, lane.buffer + at, count);
          job_.progress.add_bytes(count);
        } else {
          lane.complete = false;
        }
        // The file starts and ends in this piece, so no other piece needs it.
        if (offset + count == length && job_.starts[lane.file] >= lane.start) files_.close(lane.file);
      }
      at += count;
      lane.done += count;
    }
  }

  // A hybrid request is hashed in tiles of one leaf per lane, so that SHA-256 finds in the CPU cache what
  // SHA-1 has just read.
  void hash_lanes() {
    const std::size_t tile = job_.has_v2() ? static_cast<std::size_t>(kBlockSize) : shape_.read_size;
    for (std::size_t at = 0; at < shape_.read_size; at += tile) {
      inputs_.clear();
      for (std::size_t i = 0; i < used_; ++i) {
        Lane& lane = lanes_[i];
        if (at >= lane.filled) continue;
        const std::size_t size = std::min(tile, lane.filled - at);
        add_input(lane, lane.buffer + at, size);
        if (job_.has_v2() && lane.complete) leaves_.add(lane.buffer + at, size, lane.tree.next());
      }
      if (inputs_.empty()) return;
      advance_all<Sha1>(job_.kernels, inputs_.data(), inputs_.size());
      if (!job_.has_v2()) continue;
      leaves_.run(job_.kernels);
      for (std::size_t i = 0; i < used_; ++i) {
        if (at < lanes_[i].filled && lanes_[i].complete) lanes_[i].tree.pushed();
      }
    }
  }

  // Adds the whole blocks of `size` bytes of content. If the content ends here and zeros follow, they
  // complete its last block.
  void add_input(Lane& lane, std::uint8_t* data, std::size_t size) {
    const bool last = lane.left() == 0 && data + size == lane.buffer + lane.filled;
    if (last) {
      const std::size_t gap = (kShaBlock - size % kShaBlock) % kShaBlock;
      const auto zeros = static_cast<std::size_t>(std::min<std::uint64_t>(gap, lane.length - lane.content));
      std::memset(data + size, 0, zeros);
      size += zeros;
    }
    const std::size_t blocks = size / kShaBlock;
    inputs_.push_back({&lane.state, data, blocks});
    lane.hashed += blocks * kShaBlock;
    if (!last) return;
    if (size % kShaBlock != 0) {
      lane.tail.set(data + blocks * kShaBlock, lane.length);
    } else {
      lane.tail.set_zeros(lane.length);
    }
  }

  // Hashes the zeros after the content. Returns false if the job has stopped.
  bool hash_zeros() {
    for (;;) {
      if (job_.stopped()) return false;
      Sha1State* states[kMaxLanes];
      std::size_t count = 0;
      std::uint64_t blocks = kZeroBlocks;
      for (std::size_t i = 0; i < used_; ++i) {
        if (zero_blocks(lanes_[i]) == 0) continue;
        states[count++] = &lanes_[i].state;
        blocks = std::min(blocks, zero_blocks(lanes_[i]));
      }
      if (count == 0) return true;
      advance_zeros(job_.kernels, states, count, static_cast<std::size_t>(blocks));
      for (std::size_t i = 0; i < used_; ++i) {
        if (zero_blocks(lanes_[i]) != 0) lanes_[i].hashed += blocks * kShaBlock;
      }
    }
  }

  // Whole blocks of zeros that are still to be hashed.
  static std::uint64_t zero_blocks(const Lane& lane) { return (lane.length - lane.hashed) / kShaBlock; }

  // All pieces of zeros have the same hash, so only the first one is computed, however long a pad file is.
  bool is_zero_piece(const Lane& lane) const {
    return lane.content == 0 && lane.length == job_.request.piece_length;
  }

  void finish_pieces() {
    inputs_.clear();
    for (std::size_t i = 0; i < used_; ++i) {
      Lane& lane = lanes_[i];
      if (is_zero_piece(lane)) {
        const std::lock_guard<std::mutex> lock(job_.mutex);
        job_.zero_piece = lane.state;
      }
      inputs_.push_back({&lane.state, lane.tail.data(), lane.tail.blocks()});
    }
    advance_all<Sha1>(job_.kernels, inputs_.data(), inputs_.size());
    for (std::size_t i = 0; i < used_; ++i) {
      if (lanes_[i].complete) finish_piece(lanes_[i]);
    }
  }

  void finish_piece(Lane& lane) {
    std::uint8_t* out = &job_.digests.v1[lane.piece * sizeof(Sha1Digest)];
    write_digest(lane.state, out);
    if (!job_.has_v2() || lane.tree.leaves() == 0) return;
    const std::size_t file = lane.first_file;
    if (job_.layer_starts[file] == JobState::kNoLayer) {
      const Sha256Digest root = lane.tree.root(ceil_log2(lane.tree.leaves()));
      std::memcpy(job_.root_of(file), root.data(), kHashSize);
      return;
    }
    const Sha256Digest hash = lane.tree.root(job_.piece_height);
    const std::uint64_t index = (lane.start - job_.starts[file]) / job_.request.piece_length;
    std::memcpy(job_.layer_of(file) + index * kHashSize, hash.data(), kHashSize);
    job_.finish_unit(file);
  }

  const WorkerShape shape_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::vector<Lane> lanes_;
  std::size_t used_ = 1;
  std::vector<HashInput<Sha1>> inputs_;
  Messages<Sha256> leaves_;
};

}  // namespace

std::unique_ptr<Worker> make_piece_worker(JobState& job, WorkerThread* thread) {
  return std::make_unique<PieceWorker>(job, thread);
}

}  // namespace metainfo
