// Reads a short file or a small folder in one call of its thread.
#ifndef _WIN32

#include <exception>
#include <utility>

#include "core/files/folder.h"
#include "core/files/scan_names.h"
#include "core/files/small_tree_job.h"
#include "core/table/utf8.h"

namespace metainfo {
namespace {

// Deeper folders are left to the scan: a folder is open for each level.
constexpr unsigned kMaxDepth = 16;

class SmallTreeReader {
 public:
  SmallTreeReader(const SmallTreeJob::Request& request, const WorkerThread& thread)
      : request_(request), thread_(thread) {}

  std::optional<SmallTree> read() {
    const ShortPath& where = request_.where;
    if (auto file = read_short_file(where, request_.max_bytes)) {
      add({}, std::move(*file));
    } else {
      if (request_.max_files == 0 || !where.root.empty()) return {};
      tree_.folder = real_path(where.path);
      if (!is_utf8(tree_.folder) || !add_folder(tree_.folder, {}, 0)) return {};
    }
    if (tree_.bytes.empty()) return {};
    return std::move(tree_);
  }

 private:
  void add(const std::string& path, ShortFile file) {
    tree_.paths.append(path).push_back('\0');
    const FileStatus& status = file.status;
    tree_.numbers.insert(tree_.numbers.end(), {status.size, status.mtime_ms, status.ctime_ms});
    if (tree_.bytes.empty()) {
      tree_.bytes = std::move(file.bytes);
    } else {
      tree_.bytes.insert(tree_.bytes.end(), file.bytes.begin(), file.bytes.end());
    }
    ++files_;
  }

  // `path`: from the root, with a zero byte after each component. Returns whether everything in the folder
  // was added.
  bool add_folder(const std::string& disk, const std::string& path, unsigned depth) {
    Folder folder(disk);
    FolderNames names;
    bool ended = false;
    const std::size_t most = request_.max_files;
    if (depth > kMaxDepth || ++folders_ > most || folder.open() != 0) return false;
    if (folder.list(most + 1, names, ended) != 0 || !ended || names.count() > most) return false;
    for (std::size_t i = 0; i < names.count(); ++i) {
      // Nobody waits for the tree any more.
      thread_.check_gone();
      const char* const name = names.name(i);
      if (names.types[i] == kLinkType || !is_plain_name(name)) return false;
      const std::string child = path + name + '\0';
      if (names.types[i] == kFolderType) {
        if (!add_folder(disk + '/' + name, child, depth + 1)) return false;
        continue;
      }
      auto file = folder.read(name, request_.max_bytes - tree_.bytes.size());
      if (!file || files_ == most) return false;
      add(child, std::move(*file));
    }
    return true;
  }

  const SmallTreeJob::Request& request_;
  const WorkerThread& thread_;
  SmallTree tree_;
  std::size_t files_ = 0;
  std::size_t folders_ = 0;
};

}  // namespace

SmallTreeJob::SmallTreeJob(Request request, Budget& budget)
    : WorkerGroup(budget), request_(std::move(request)) {
  want_workers(1, request_.max_bytes);
}

bool SmallTreeJob::run_worker(WorkerThread& thread, const Served&, std::shared_ptr<void>&) noexcept try {
  // The job may end while the call is stuck: until it returns, the thread uses its own memory only.
  const Request request = request_;
  std::optional<SmallTree> tree;
  thread.call([&] { tree = SmallTreeReader(request, thread).read(); });
  if (!cancelled()) outcome_ = std::move(tree);
  return true;
} catch (const WorkerThread::Stopped&) {
  return true;
} catch (const std::exception&) {
  // Out of memory: the other job fails with a better error, or has enough.
  return true;
}

}  // namespace metainfo

#endif
