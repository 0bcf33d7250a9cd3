// v1 and hybrid: as many pieces side by side as the widest kernel has lanes. Each is read in slices into a
// buffer of its own; all slices are hashed together.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/sha.h"
#include "core/worker.h"

namespace metainfo {
namespace {

// Between lanes: their starts must not all fall into the same set of the cache. Also room for the zeros that
// complete a content's last block.
constexpr std::size_t kGap = 192;
// Zero blocks between two looks at whether the job was cancelled: a pad may be terabytes.
constexpr std::uint64_t kZeroBlocks = 1 << 16;

struct Lane {
  explicit Lane(const Trees& trees) : tree(trees) {}

  std::uint64_t left() const { return content - done; }

  std::uint64_t piece = 0;
  std::uint64_t start = 0;    // of the piece on the axis
  std::uint64_t length = 0;   // of the piece
  std::uint64_t content = 0;  // what is read; zeros follow up to the length
  std::uint64_t done = 0;     // read so far
  std::size_t file = 0;       // where the next byte is
  std::size_t first_file = 0;
  bool whole = true;  // no file is missing
  std::uint8_t* buffer = nullptr;
  std::size_t filled = 0;  // bytes of content in the buffer
  Sha1State state = Sha1::kInitial;
  std::uint64_t hashed = 0;  // bytes that the state holds
  Tail tail;
  GrowingTree tree;
};

class PieceWorker final : public Worker {
 public:
  PieceWorker(Work& work, Seat* seat)
      : Worker(work, seat),
        shape_(worker_shape(work.plan)),
        memory_(new std::uint8_t[shape_.lanes * (shape_.slice + kGap)]) {
    lanes_.reserve(shape_.lanes);
    for (std::size_t i = 0; i < shape_.lanes; ++i) {
      lanes_.emplace_back(work.trees);
      lanes_[i].buffer = &memory_[i * (shape_.slice + kGap)];
    }
  }

 private:
  void hash(const Work::Batch& batch) override {
    for (std::uint64_t piece = batch.first; piece < batch.last; piece += used_) {
      used_ = static_cast<std::size_t>(std::min<std::uint64_t>(shape_.lanes, batch.last - piece));
      for (std::size_t i = 0; i < used_; ++i) begin(lanes_[i], piece + i);
      if (cold()) announce(batch);
      while (read_slices()) hash_slices();
      if (!hash_zeros()) return;
      finish();
    }
  }

  void begin(Lane& lane, std::uint64_t piece) {
    const Plan& plan = work_.plan;
    lane.piece = piece;
    lane.start = piece * plan.piece_length;
    lane.length = std::min(plan.piece_length, work_.end - lane.start);
    lane.file = lane.first_file = work_.file_at(lane.start);
    lane.done = lane.hashed = 0;
    lane.whole = true;
    lane.state = Sha1::kInitial;
    lane.tree.clear();
    // Content ends where the last file with content does.
    std::size_t last = work_.file_at(lane.start + lane.length - 1);
    while (last > lane.first_file && (plan.files[last].pad || plan.files[last].length == 0)) --last;
    const std::uint64_t end = work_.starts[last] + plan.files[last].length;
    lane.content = plan.files[last].pad || end <= lane.start ? 0 : std::min(lane.length, end - lane.start);
    if (lane.content != 0) return;
    lane.tail.set_zeros(lane.length);
    if (!is_zero_piece(lane)) return;
    const std::lock_guard<std::mutex> lock(work_.mutex);
    if (!work_.zero_piece) return;
    lane.state = *work_.zero_piece;
    lane.hashed = lane.length / kShaBlock * kShaBlock;
  }

  // The start of the lanes, and of those of the batch that will probably be this worker's next.
  void announce(const Work::Batch& batch) {
    const std::uint64_t distance = (batch.last - batch.first) * work_.plan.threads * work_.plan.piece_length;
    for (std::size_t i = 0; i < used_; ++i) announce(lanes_[i], 0, 2 * kAhead);
    for (std::size_t i = 0; i < used_; ++i) announce(lanes_[i], distance, 2 * kAhead);
  }

  // Bytes from so far into the lane's piece, as long as they are in its file.
  void announce(const Lane& lane, std::uint64_t from, std::uint64_t size) {
    const PlanFile& file = work_.plan.files[lane.file];
    const std::uint64_t offset = lane.start - std::min(lane.start, work_.starts[lane.file]) + from;
    if (file.pad || lane.start < work_.starts[lane.file] || offset >= file.length) return;
    size = std::min({size, file.length - offset, work_.plan.piece_length});
    if (const Reader* reader = files_.get(lane.file)) reader->will_need(offset, size);
  }

  // The next slice of every lane that has one; false when there is none, or the job was stopped.
  bool read_slices() {
    bool any = false;
    watch([&] {
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
      lane.filled = static_cast<std::size_t>(std::min<std::uint64_t>(shape_.slice, lane.left()));
      if (lane.filled == 0) continue;
      if (work_.stopped()) return false;
      const std::uint64_t before = lane.done / kAhead;
      fill(lane);
      // Of a long piece, what comes after the part that was announced before.
      if (cold() && lane.done / kAhead != before && lane.left() > kAhead)
        announce(lane, (lane.done / kAhead + 1) * kAhead, kAhead);
      any = true;
    }
    return any;
  }

  void fill(Lane& lane) {
    const std::vector<PlanFile>& files = work_.plan.files;
    for (std::size_t at = 0; at < lane.filled;) {
      const PlanFile& file = files[lane.file];
      const std::uint64_t offset = lane.start + lane.done - work_.starts[lane.file];
      if (offset == file.length) {
        ++lane.file;
        continue;
      }
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(lane.filled - at, file.length - offset));
      if (file.pad) {
        std::memset(lane.buffer + at, 0, count);
      } else {
        if (const Reader* reader = files_.get(lane.file)) {
          reader->read(offset, lane.buffer + at, count);
          work_.gauge.bytes.fetch_add(count, std::memory_order_relaxed);
        } else {
          lane.whole = false;
        }
        // No other piece needs it.
        if (offset + count == file.length && work_.starts[lane.file] >= lane.start) files_.close(lane.file);
      }
      at += count;
      lane.done += count;
    }
  }

  // Hybrid goes tile by tile, a leaf of each lane: SHA-256 finds in the cache what SHA-1 has just read.
  void hash_slices() {
    const std::size_t tile = work_.has_v2() ? static_cast<std::size_t>(kBlockSize) : shape_.slice;
    for (std::size_t at = 0; at < shape_.slice; at += tile) {
      stretches_.clear();
      for (std::size_t i = 0; i < used_; ++i) {
        Lane& lane = lanes_[i];
        if (at >= lane.filled) continue;
        const std::size_t size = std::min(tile, lane.filled - at);
        add_stretch(lane, lane.buffer + at, size);
        if (work_.has_v2() && lane.whole) leaves_.add(lane.buffer + at, size, lane.tree.next());
      }
      if (stretches_.empty()) return;
      advance_all<Sha1>(work_.kernels, stretches_.data(), stretches_.size());
      if (!work_.has_v2()) continue;
      leaves_.run(work_.kernels);
      for (std::size_t i = 0; i < used_; ++i) {
        if (at < lanes_[i].filled && lanes_[i].whole) lanes_[i].tree.pushed();
      }
    }
  }

  // The blocks of a part of the content. Its last block is completed with zeros, where zeros follow.
  void add_stretch(Lane& lane, std::uint8_t* data, std::size_t size) {
    const bool last = lane.left() == 0 && data + size == lane.buffer + lane.filled;
    if (last) {
      const std::size_t gap = (kShaBlock - size % kShaBlock) % kShaBlock;
      const auto zeros = static_cast<std::size_t>(std::min<std::uint64_t>(gap, lane.length - lane.content));
      std::memset(data + size, 0, zeros);
      size += zeros;
    }
    const std::size_t blocks = size / kShaBlock;
    stretches_.push_back({&lane.state, data, blocks});
    lane.hashed += blocks * kShaBlock;
    if (!last) return;
    if (size % kShaBlock != 0) {
      lane.tail.set(data + blocks * kShaBlock, lane.length);
    } else {
      lane.tail.set_zeros(lane.length);
    }
  }

  // False when the job was stopped.
  bool hash_zeros() {
    for (;;) {
      if (work_.stopped()) return false;
      Sha1State* states[kMostLanes];
      std::size_t count = 0;
      std::uint64_t blocks = kZeroBlocks;
      for (std::size_t i = 0; i < used_; ++i) {
        if (zero_blocks(lanes_[i]) == 0) continue;
        states[count++] = &lanes_[i].state;
        blocks = std::min(blocks, zero_blocks(lanes_[i]));
      }
      if (count == 0) return true;
      advance_zeros(work_.kernels, states, count, static_cast<std::size_t>(blocks));
      for (std::size_t i = 0; i < used_; ++i) {
        if (zero_blocks(lanes_[i]) != 0) lanes_[i].hashed += blocks * kShaBlock;
      }
    }
  }

  // Whole blocks of zeros that are yet to be hashed.
  static std::uint64_t zero_blocks(const Lane& lane) { return (lane.length - lane.hashed) / kShaBlock; }

  // All of these have the same hash: one is enough, however long a pad is.
  bool is_zero_piece(const Lane& lane) const {
    return lane.content == 0 && lane.length == work_.plan.piece_length;
  }

  void finish() {
    stretches_.clear();
    for (std::size_t i = 0; i < used_; ++i) {
      Lane& lane = lanes_[i];
      if (is_zero_piece(lane)) {
        const std::lock_guard<std::mutex> lock(work_.mutex);
        work_.zero_piece = lane.state;
      }
      stretches_.push_back({&lane.state, lane.tail.data(), lane.tail.blocks()});
    }
    advance_all<Sha1>(work_.kernels, stretches_.data(), stretches_.size());
    for (std::size_t i = 0; i < used_; ++i) {
      if (lanes_[i].whole) finish(lanes_[i]);
    }
  }

  void finish(Lane& lane) {
    std::uint8_t* out = &work_.digests.v1[lane.piece * sizeof(Sha1Digest)];
    write_digest(lane.state, out);
    if (!work_.has_v2() || lane.tree.leaves() == 0) return;
    const std::size_t file = lane.first_file;
    if (work_.layer_starts[file] == Work::kNoLayer) {
      const Sha256Digest root = lane.tree.root(ceil_log2(lane.tree.leaves()));
      std::memcpy(work_.root_of(file), root.data(), kHashSize);
      return;
    }
    const Sha256Digest hash = lane.tree.root(work_.piece_height);
    const std::uint64_t index = (lane.start - work_.starts[file]) / work_.plan.piece_length;
    std::memcpy(work_.layer_of(file) + index * kHashSize, hash.data(), kHashSize);
    work_.finish_part(file);
  }

  const WorkerShape shape_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::vector<Lane> lanes_;
  std::size_t used_ = 1;
  std::vector<Stretch<Sha1>> stretches_;
  Messages<Sha256> leaves_;
};

}  // namespace

std::unique_ptr<Worker> make_piece_worker(Work& work, Seat* seat) {
  return std::make_unique<PieceWorker>(work, seat);
}

}  // namespace metainfo
