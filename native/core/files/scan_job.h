// A job that lists folders and reads the sizes, times and types of their entries, on several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "core/hash/hash_request.h"
#include "core/table/file_columns.h"
#include "core/threads/worker_group.h"

namespace metainfo {

class ScanJob final : public WorkerGroup {
 public:
  // A folder to be listed. A zero byte stands between the components of its paths, which are empty for the
  // root.
  struct Start {
    std::string disk;  // from the root on disk, without symbolic links
    std::string path;  // from the root of the torrent: another one below symbolic links
  };

  struct Request {
    std::string root;  // the absolute path of the root on disk, without symbolic links
    std::vector<Start> starts;
    bool recursive = false;  // enter the folders in the folders too
    bool readable = false;   // report files that cannot be opened for reading
  };

  // The entries that the scan found, in no particular order. They have disk paths if a start has two
  // different paths.
  struct Found {
    FileArrays files;   // regular files whose names any torrent can hold
    FileArrays others;  // everything else: JavaScript must look at it
    // For each of the others. Links, and folders that were not entered, have no more than a type. A folder
    // with an error could not be listed.
    std::vector<double> errors;  // errno, or 0
    std::vector<double> modes;   // 0 after an error of stat(2)
  };

  using Outcome = std::variant<std::monostate, Found, Failure>;

  explicit ScanJob(Request request, Budget& budget = Budget::process());
  ~ScanJob() override { stop(); }

  // Valid after `finished` was called; std::monostate before.
  Outcome& outcome() { return outcome_; }

 private:
  struct OpenFolder;
  class Worker;
  enum class Taken { part, nothing, must_leave };

  bool run_worker(WorkerThread& thread, const Served& served,
                  std::shared_ptr<void>& leftover) noexcept override;
  bool ended() const override { return WorkerGroup::ended() || out_of_memory_; }
  void settle(bool unstarted) override;

  Taken take(std::shared_ptr<OpenFolder>& part, const Served& served);
  void continue_later(std::shared_ptr<OpenFolder> part);
  bool give_back(std::vector<Start>& below);
  Found take_found();
  void keep_found(Found found);
  Found joined();

  const Request request_;
  const bool has_disk_paths_;
  std::atomic<bool> wants_more_{true};
  std::atomic<bool> out_of_memory_{false};
  Outcome outcome_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by `mutex_`:
  std::vector<Start> pending_;                            // folders that are not open yet
  std::vector<std::shared_ptr<OpenFolder>> half_listed_;  // open folders with more entries
  unsigned busy_ = 0;                                     // workers that may still find folders
  std::vector<Found> found_;                              // of workers that have left
};

}  // namespace metainfo
