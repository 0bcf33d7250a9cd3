// Opens files as workers need them and closes the one that was unused for longest.
#include "core/files/open_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace metainfo {

const Reader* OpenFiles::get(std::size_t file) {
  if (latest_ == nullptr || latest_->file != file) {
    Entry* slot = nullptr;
    for (Entry& entry : entries_) {
      if (entry.used && entry.file == file) slot = &entry;
    }
    if (slot == nullptr) {
      slot = &*std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return a.used != b.used ? !a.used : a.last_use < b.last_use;
      });
      close(*slot);
      job_.progress.file_index.store(static_cast<std::uint32_t>(file), std::memory_order_relaxed);
      try {
        RequestedFile requested = job_.request.file(file);
        const RootFolder* const folder = requested.below_root == 0 ? nullptr : root();
        slot->reader.emplace(std::move(requested), thread_, folder);
        job_.mark_opened(file);
      } catch (const Failure& failure) {
        const bool is_absent =
            failure.code == Failure::Code::open && (failure.error == ENOENT || failure.error == ENOTDIR);
        if (!is_absent || !job_.request.mark_missing) throw;
        job_.mark_missing(file);
      }
      slot->used = true;
      slot->file = file;
    }
    latest_ = slot;
  }
  latest_->last_use = ++uses_;
  return latest_->reader ? &*latest_->reader : nullptr;
}

// The root of the request, opened for the first file below it. Null if it cannot be opened: the file is then
// opened by its whole path, so that an error names the file.
const RootFolder* OpenFiles::root() {
  if (root_) return &*root_;
  try {
    return &root_.emplace(job_.request.columns->root, thread_);
  } catch (const Failure&) {
    return nullptr;
  }
}

void OpenFiles::close(std::size_t file) {
  for (Entry& entry : entries_) {
    if (entry.used && entry.file == file) close(entry);
  }
}

void OpenFiles::close_all() {
  for (Entry& entry : entries_) close(entry);
  root_.reset();
}

void OpenFiles::close(Entry& entry) {
  if (latest_ == &entry) latest_ = nullptr;
  entry.used = false;
  if (entry.reader) entry.reader->check_unchanged();
  entry.reader.reset();
  if (thread_ != nullptr) thread_->check_gone();
}

}  // namespace metainfo
