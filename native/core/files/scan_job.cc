// Shares the folders of a scan among its workers, and sorts what they find into columns.
#include "core/files/scan_job.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "core/files/folder.h"
#include "core/files/scan_names.h"
#include "core/threads/timed_wait.h"

namespace metainfo {
namespace {

// The entries of a part: a larger folder is shared by several workers.
constexpr std::size_t kPartEntries = 1024;
// After this many entries, a worker asks whether it must leave for another job. They count as this many bytes
// in the budget, which shares its threads by bytes.
constexpr std::size_t kServedEntries = 256;
constexpr std::uint64_t kServedBytes = 1 << 20;
// Opening and closing a folder counts as much as this many entries.
constexpr std::size_t kFolderEntries = 4;
// A slow disk or network answers several calls at once.
constexpr unsigned kMaxWorkers = 8;
// How long a worker waits for others to find folders before it asks whether it must leave.
constexpr std::chrono::milliseconds kWait{2};
// The bytes of all paths: their ends have 32 bits.
constexpr std::size_t kMostBytes = std::numeric_limits<std::uint32_t>::max();

std::string entry_path(const std::string& folder, const char* name) {
  std::string path = folder;
  if (!path.empty()) path += '\0';
  return path += name;
}

// `name`: null for the folder itself.
void append(PathArray& column, const std::string& folder, const char* name) {
  const std::size_t size = name == nullptr ? 0 : std::strlen(name);
  if (column.bytes.size() + folder.size() + 1 + size > kMostBytes) throw std::bad_alloc();
  column.bytes.insert(column.bytes.end(), folder.begin(), folder.end());
  if (name != nullptr) {
    if (!folder.empty()) column.bytes.push_back('\0');
    column.bytes.insert(column.bytes.end(), name, name + size);
  }
  column.ends.push_back(static_cast<std::uint32_t>(column.bytes.size()));
}

bool is_restricted(std::uint32_t mode) { return (mode & 0444) != 0444; }

template <typename T>
void extend(std::vector<T>& all, const std::vector<T>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

void extend(PathArray& all, const PathArray& part) {
  const std::size_t start = all.bytes.size();
  if (start + part.bytes.size() > kMostBytes) throw std::bad_alloc();
  extend(all.bytes, part.bytes);
  for (const std::uint32_t end : part.ends) all.ends.push_back(static_cast<std::uint32_t>(start) + end);
}

void extend(FileArrays& all, const FileArrays& part) {
  extend(all.paths, part.paths);
  extend(all.disk_paths, part.disk_paths);
  extend(all.lengths, part.lengths);
  extend(all.mtimes, part.mtimes);
  extend(all.ctimes, part.ctimes);
}

// So that no column is copied again while it grows. Memory that is not written yet takes no space.
void reserve(FileArrays& all, std::size_t path_bytes, std::size_t disk_path_bytes, std::size_t count) {
  all.paths.bytes.reserve(path_bytes);
  all.paths.ends.reserve(count);
  all.disk_paths.bytes.reserve(disk_path_bytes);
  if (disk_path_bytes != 0) all.disk_paths.ends.reserve(count);
  all.lengths.reserve(count);
  all.mtimes.reserve(count);
  all.ctimes.reserve(count);
}

}  // namespace

struct ScanJob::OpenFolder {
  OpenFolder(const std::string& root, Start place_)
      : place(std::move(place_)), folder(disk_path(root, place.disk)) {}

  const Start place;
  Folder folder;
  bool open = false;
};

// Lists folders on one thread.
class ScanJob::Worker {
 public:
  Worker(ScanJob& job, WorkerThread& thread) : job_(job), thread_(thread), found_(job.take_found()) {}

  // Returns whether no part is left.
  bool run(const Served& served) {
    std::size_t entries = 0;
    for (;;) {
      std::shared_ptr<OpenFolder> part;
      const Taken taken = job_.take(part, served);
      if (taken != Taken::part) {
        job_.keep_found(std::move(found_));
        return taken == Taken::nothing;
      }
      entries += kFolderEntries + list(part);
      thread_.must_call([&] { part.reset(); });
      thread_.check_gone();
      const bool has_more = job_.give_back(below_);
      if (entries < kServedEntries) continue;
      // A small scan does not wake up other threads.
      if (has_more && job_.wants_more_.exchange(false)) job_.request_more(kMaxWorkers);
      if (served(entries * kServedBytes / kServedEntries)) {
        job_.keep_found(std::move(found_));
        return false;
      }
      entries = 0;
    }
  }

 private:
  // Returns the number of entries.
  std::size_t list(const std::shared_ptr<OpenFolder>& part) {
    names_.clear();
    bool ended = false;
    int error = 0;
    thread_.call([&] {
      if (!part->open) error = part->folder.open();
      if (error == 0) error = part->folder.list(kPartEntries, names_, ended);
    });
    part->open = true;
    if (error != 0) {
      add_other(part->place, nullptr, error, {}, kFolderType);
    } else if (!ended) {
      job_.continue_later(part);
    }
    for (std::size_t i = 0; i < names_.count(); ++i) add(*part, names_.name(i), names_.types[i]);
    return names_.count();
  }

  void add(const OpenFolder& part, const char* name, std::uint32_t type) {
    if (type == kLinkType) return add_other(part.place, name, 0, {}, type);
    if (type == kFolderType) return add_folder(part.place, name);
    FileStatus status;
    thread_.call([&] { status = part.folder.status(name); });
    const auto mode = static_cast<std::uint32_t>(status.mode);
    if (status.error == 0 && (mode & kTypeBits) == kFolderType) return add_folder(part.place, name);
    int error = status.error;
    if (error == 0 && (mode & kTypeBits) == kFileType) {
      if (job_.request_.readable && is_restricted(mode))
        thread_.call([&] { error = part.folder.reading_error(name); });
      if (error == 0 && is_plain_name(name)) return add_row(found_.files, part.place, name, status);
    }
    add_other(part.place, name, error, status, mode);
  }

  void add_folder(const Start& place, const char* name) {
    if (!job_.request_.recursive || !is_harmless_name(name))
      return add_other(place, name, 0, {}, kFolderType);
    below_.push_back({entry_path(place.disk, name), entry_path(place.path, name)});
  }

  void add_other(const Start& place, const char* name, int error, const FileStatus& status,
                 std::uint32_t mode) {
    add_row(found_.others, place, name, status);
    found_.errors.push_back(error);
    found_.modes.push_back(mode);
  }

  void add_row(FileArrays& columns, const Start& place, const char* name, const FileStatus& status) {
    append(columns.paths, place.path, name);
    if (job_.has_disk_paths_) append(columns.disk_paths, place.disk, name);
    columns.lengths.push_back(status.size);
    columns.mtimes.push_back(status.mtime_ms);
    columns.ctimes.push_back(status.ctime_ms);
  }

  ScanJob& job_;
  WorkerThread& thread_;
  Found found_;
  FolderNames names_;
  std::vector<Start> below_;
};

ScanJob::ScanJob(Request request, Budget& budget)
    : WorkerGroup(budget),
      request_(std::move(request)),
      has_disk_paths_(std::any_of(request_.starts.begin(), request_.starts.end(),
                                  [](const Start& start) { return start.disk != start.path; })),
      pending_(request_.starts) {
  WorkerGroup::want_workers(1, 0);
}

bool ScanJob::run_worker(WorkerThread& thread, const Served& served, std::shared_ptr<void>&) noexcept try {
  return Worker(*this, thread).run(served);
} catch (const WorkerThread::Stopped&) {
  return true;
} catch (const std::bad_alloc&) {
  out_of_memory_ = true;
  return true;
}

// Open folders come first, so that few are open at once.
ScanJob::Taken ScanJob::take(std::shared_ptr<OpenFolder>& part, const Served& served) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (ended()) return Taken::nothing;
    if (!half_listed_.empty()) {
      part = std::move(half_listed_.back());
      half_listed_.pop_back();
    } else if (!pending_.empty()) {
      part = std::make_shared<OpenFolder>(request_.root, std::move(pending_.back()));
      pending_.pop_back();
    }
    if (part) {
      ++busy_;
      return Taken::part;
    }
    if (busy_ == 0) return Taken::nothing;
    if (wait_for(changed_, lock, kWait) == std::cv_status::timeout) {
      lock.unlock();
      if (served(0)) return Taken::must_leave;
      lock.lock();
    }
  }
}

void ScanJob::continue_later(std::shared_ptr<OpenFolder> part) {
  const std::lock_guard<std::mutex> lock(mutex_);
  half_listed_.push_back(std::move(part));
  changed_.notify_one();
}

// Called after each part, with the folders that it contained. Returns whether there is another part.
bool ScanJob::give_back(std::vector<Start>& below) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::move(below.begin(), below.end(), std::back_inserter(pending_));
  below.clear();
  --busy_;
  if (!pending_.empty() || busy_ == 0) changed_.notify_all();
  return !pending_.empty() || !half_listed_.empty();
}

ScanJob::Found ScanJob::take_found() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (found_.empty()) return {};
  Found found = std::move(found_.back());
  found_.pop_back();
  return found;
}

void ScanJob::keep_found(Found found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  found_.push_back(std::move(found));
}

void ScanJob::settle(bool unstarted) {
  using Code = Failure::Code;
  half_listed_.clear();
  // Frees the memory of what may have been a million folders: JavaScript keeps the job for a while.
  pending_ = std::vector<Start>();
  if (cancelled()) {
    outcome_ = Failure{Code::aborted, 0, {}, {}};
  } else if (unstarted) {
    outcome_ = Failure{Code::no_thread, 0, {}, {}};
  } else if (out_of_memory_) {
    outcome_ = Failure{Code::no_memory, 0, {}, {}};
  } else {
    try {
      outcome_ = joined();
    } catch (const std::bad_alloc&) {
      outcome_ = Failure{Code::no_memory, 0, {}, {}};
    }
  }
  found_.clear();
}

ScanJob::Found ScanJob::joined() {
  if (found_.size() == 1) return std::move(found_[0]);
  std::size_t path_bytes = 0;
  std::size_t disk_path_bytes = 0;
  std::size_t count = 0;
  for (const Found& part : found_) {
    path_bytes += part.files.paths.bytes.size();
    disk_path_bytes += part.files.disk_paths.bytes.size();
    count += part.files.lengths.size();
  }
  Found all;
  reserve(all.files, path_bytes, disk_path_bytes, count);
  for (Found& part : found_) {
    extend(all.files, part.files);
    extend(all.others, part.others);
    extend(all.errors, part.errors);
    extend(all.modes, part.modes);
    part = Found{};
  }
  return all;
}

}  // namespace metainfo
