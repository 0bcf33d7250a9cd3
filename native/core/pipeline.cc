// Read -> hash -> collect. Workers take batches of pieces from one atomic counter; each reads and hashes its
// own.
//
// Everything is laid out on one axis. In v1 and hybrid that is the concatenation of all files (hybrid plans
// hold their pads, so each piece belongs to one file); in v2 every file starts at the next multiple of the
// piece length. A piece is then the same thing in all three kinds, and so is the work.
#include "core/pipeline.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "core/merkle.h"
#include "core/reader.h"
#include "core/sha.h"

namespace metainfo {
namespace {

constexpr std::uint64_t kBatchBytes = 1 << 20;  // enough work that the counter costs nothing
constexpr std::uint64_t kNoLayer = std::numeric_limits<std::uint64_t>::max();

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// What all workers share. Written by one worker at a time and place: a piece's or a file's own bytes.
struct Shared {
  Shared(const Plan& plan_, const Kernel& kernel_, Gauge& gauge_);

  bool has_v1() const { return plan.kind != Kind::v2; }
  bool has_v2() const { return plan.kind != Kind::v1; }
  std::size_t file_at(std::uint64_t position) const;
  void fail(Failure failure);
  void mark_opened(std::size_t file);
  void mark_missing(std::size_t file);
  void finish_root(std::size_t file);

  const Plan& plan;
  const Kernel& kernel;
  Gauge& gauge;
  const ZeroSubtrees zeros;
  const unsigned piece_height;  // of a whole piece's tree of blocks

  std::vector<std::uint64_t> starts;  // of each file on the axis
  std::vector<std::uint64_t>
      layer_starts;  // of each file's hashes in digests.layers; kNoLayer where it has none
  std::unique_ptr<std::atomic<std::uint64_t>[]> pieces_left;  // of each file that has a layer
  std::uint64_t total = 0;                                    // the axis' end
  std::uint64_t pieces = 0;
  std::uint64_t batch = 1;

  std::vector<std::size_t> empty_files;

  std::atomic<std::uint64_t> next{0};
  std::atomic<std::size_t> next_empty{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // of the failure and the two lists below it
  std::optional<Failure> failure;
  std::vector<bool> opened;
  std::vector<bool> missing;
  Digests digests;
};

Shared::Shared(const Plan& plan_, const Kernel& kernel_, Gauge& gauge_)
    : plan(plan_),
      kernel(kernel_),
      gauge(gauge_),
      zeros(zero_subtrees(kernel_)),
      piece_height(ceil_log2(plan_.piece_length / kBlockSize)),
      opened(plan_.files.size()),
      missing(plan_.files.size()) {
  const std::size_t count = plan.files.size();
  starts.reserve(count);
  std::uint64_t layers = 0;
  if (has_v2()) {
    layer_starts.assign(count, kNoLayer);
    pieces_left = std::make_unique<std::atomic<std::uint64_t>[]>(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const PlanFile& file = plan.files[i];
    if (plan.kind == Kind::v2) total = ceil_div(total, plan.piece_length) * plan.piece_length;
    if (plan.kind == Kind::hybrid && !file.pad && file.length != 0 && total % plan.piece_length != 0) {
      throw Failure{Failure::Code::internal, 0, file.path, "a hybrid plan must align its files with pads"};
    }
    if (!file.pad && file.length == 0) empty_files.push_back(i);
    starts.push_back(total);
    total += file.length;
    if (has_v2() && !file.pad && file.length > plan.piece_length) {
      layer_starts[i] = layers;
      pieces_left[i] = ceil_div(file.length, plan.piece_length);
      layers += pieces_left[i] * 32;
    }
  }
  pieces = ceil_div(total, plan.piece_length);
  batch = std::max<std::uint64_t>(1, kBatchBytes / plan.piece_length);
  if (has_v1()) digests.v1.resize(pieces * 20);
  if (has_v2()) {
    digests.roots.resize(count * 32);
    digests.layers.resize(layers);
  }
}

// The last file that starts at or before `position`: of several that start there, the one that has content.
std::size_t Shared::file_at(std::uint64_t position) const {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin() -
                                  1);
}

void Shared::fail(Failure value) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!failure) failure = std::move(value);
  stop = true;
}

void Shared::mark_opened(std::size_t file) {
  if (!plan.mark_missing) return;
  const std::lock_guard<std::mutex> lock(mutex);
  opened[file] = true;
}

// A file that another worker has read from is not missing but gone.
void Shared::mark_missing(std::size_t file) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (opened[file])
    throw Failure{Failure::Code::changed, 0, plan.files[file].path, "it was deleted or replaced"};
  missing[file] = true;
}

void Shared::finish_root(std::size_t file) {
  const std::uint64_t count = ceil_div(plan.files[file].length, plan.piece_length);
  const Sha256Digest root =
      layer_root(kernel, zeros, &digests.layers[layer_starts[file]], count, piece_height);
  std::copy(root.begin(), root.end(), &digests.roots[file * 32]);
}

class Worker {
 public:
  explicit Worker(Shared& shared)
      : shared_(shared),
        stack_(shared.kernel, shared.zeros),
        buffer_(new std::uint8_t[shared.plan.read_size]) {}

  void run() {
    for (;;) {
      const std::uint64_t first = shared_.next.fetch_add(shared_.batch, std::memory_order_relaxed);
      if (first >= shared_.pieces) break;
      const std::uint64_t last = std::min(shared_.pieces, first + shared_.batch);
      for (std::uint64_t piece = first; piece < last; ++piece) {
        // Also for pieces that read nothing: a stranger's pad may be terabytes of zeros.
        if (stopped() || !hash_piece(piece)) return;
      }
    }
    // No piece leads to these, but they too must be what they were.
    for (;;) {
      const std::size_t next = shared_.next_empty.fetch_add(1, std::memory_order_relaxed);
      if (next >= shared_.empty_files.size() || stopped()) break;
      open(shared_.empty_files[next]);
    }
    close();
  }

 private:
  bool stopped() const {
    return shared_.stop.load(std::memory_order_relaxed) ||
           shared_.gauge.cancelled.load(std::memory_order_relaxed);
  }

  // False when the job was stopped.
  bool hash_piece(std::uint64_t piece) {
    const Plan& plan = shared_.plan;
    std::uint64_t position = piece * plan.piece_length;
    const std::uint64_t end = std::min(position + plan.piece_length, shared_.total);
    const std::size_t first_file = shared_.file_at(position);
    Message<Sha1> message(shared_.kernel);
    stack_.clear();
    bool whole = true;
    for (std::size_t i = first_file; i < plan.files.size() && position < end; ++i) {
      const PlanFile& file = plan.files[i];
      const std::uint64_t offset = position - shared_.starts[i];
      const std::uint64_t count = std::min(end - position, file.length - offset);
      if (file.pad) {
        if (shared_.has_v1() && !hash_zeros(count, message)) return false;
      } else if (count != 0) {
        if (!open(i)) {
          whole = false;
        } else if (!hash_range(offset, count, message)) {
          return false;
        }
      }
      position += count;
      // In v2 the gap up to the next file's start is no content.
      if (plan.kind == Kind::v2) break;
    }
    if (shared_.has_v1() && whole) {
      const Sha1Digest digest = message.finish();
      std::copy(digest.begin(), digest.end(), &shared_.digests.v1[piece * 20]);
    }
    if (shared_.has_v2() && stack_.count() != 0) finish_v2(first_file, piece);
    return true;
  }

  bool hash_zeros(std::uint64_t count, Message<Sha1>& message) {
    while (count != 0) {
      if (stopped()) return false;
      const std::uint64_t size = std::min<std::uint64_t>(count, shared_.plan.read_size);
      message.zeros(size);
      count -= size;
    }
    return true;
  }

  bool hash_range(std::uint64_t offset, std::uint64_t count, Message<Sha1>& message) {
    while (count != 0) {
      if (stopped()) return false;
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(count, shared_.plan.read_size));
      reader_->read(offset, buffer_.get(), size);
      if (shared_.has_v1()) message.update(buffer_.get(), size);
      if (shared_.has_v2()) push_leaves(size);
      shared_.gauge.bytes.fetch_add(size, std::memory_order_relaxed);
      offset += size;
      count -= size;
    }
    return true;
  }

  void push_leaves(std::size_t size) {
    for (std::size_t at = 0; at < size; at += kBlockSize) {
      Message<Sha256> leaf(shared_.kernel);
      leaf.update(&buffer_[at], std::min<std::size_t>(kBlockSize, size - at));
      stack_.push(leaf.finish());
    }
  }

  void finish_v2(std::size_t file, std::uint64_t piece) {
    const std::uint64_t layer = shared_.layer_starts[file];
    if (layer == kNoLayer) {
      const Sha256Digest root = stack_.root(ceil_log2(stack_.count()));
      std::copy(root.begin(), root.end(), &shared_.digests.roots[file * 32]);
      return;
    }
    const Sha256Digest hash = stack_.root(shared_.piece_height);
    const std::uint64_t index = piece - shared_.starts[file] / shared_.plan.piece_length;
    std::copy(hash.begin(), hash.end(), &shared_.digests.layers[layer + index * 32]);
    // The worker that stores a file's last piece hash finishes its root.
    if (shared_.pieces_left[file].fetch_sub(1, std::memory_order_acq_rel) == 1) shared_.finish_root(file);
  }

  // False when the file is missing and that is to be marked. One descriptor a worker, whatever the number of
  // files.
  bool open(std::size_t file) {
    if (open_file_ == file) return reader_.has_value();
    close();
    open_file_ = file;
    if (shared_.plan.files[file].length != 0)
      shared_.gauge.file_index.store(static_cast<std::uint32_t>(file), std::memory_order_relaxed);
    try {
      reader_.emplace(shared_.plan.files[file]);
      shared_.mark_opened(file);
      return true;
    } catch (const Failure& failure) {
      const bool absent =
          failure.code == Failure::Code::open && (failure.error == ENOENT || failure.error == ENOTDIR);
      if (!absent || !shared_.plan.mark_missing) throw;
      shared_.mark_missing(file);
      return false;
    }
  }

  void close() {
    if (reader_) reader_->check_unchanged();
    reader_.reset();
    open_file_.reset();
  }

  Shared& shared_;
  MerkleStack stack_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::optional<Reader> reader_;
  std::optional<std::size_t> open_file_;
};

void work(Shared& shared) noexcept {
  try {
    Worker(shared).run();
  } catch (const Failure& failure) {
    shared.fail(failure);
  } catch (const std::bad_alloc&) {
    shared.fail({Failure::Code::no_memory, 0, {}, {}});
  } catch (const std::exception& error) {
    shared.fail({Failure::Code::internal, 0, {}, error.what()});
  }
}

}  // namespace

Digests hash_plan(const Plan& plan, const Kernel& kernel, Gauge& gauge) {
  Shared shared(plan, kernel, gauge);
  const std::uint64_t batches = ceil_div(shared.pieces, shared.batch);
  std::vector<std::thread> helpers;
  helpers.reserve(plan.threads);
  try {
    for (std::uint64_t i = 1; i < std::min<std::uint64_t>(plan.threads, batches); ++i)
      helpers.emplace_back(work, std::ref(shared));
  } catch (const std::exception&) {
    // The system has no thread, or no memory for one, to give: those that run do the work.
  }
  work(shared);
  for (std::thread& helper : helpers) helper.join();

  if (gauge.cancelled) throw Failure{Failure::Code::aborted, 0, {}, {}};
  if (shared.failure) throw *std::move(shared.failure);
  for (std::size_t i = 0; i < shared.missing.size(); ++i) {
    if (shared.missing[i]) shared.digests.missing.push_back(static_cast<std::uint32_t>(i));
  }
  return std::move(shared.digests);
}

}  // namespace metainfo
