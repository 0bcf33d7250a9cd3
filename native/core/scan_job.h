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

#include "core/file_columns.h"
#include "core/plan.h"
#include "core/worker_group.h"

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

  struct Columns {
    PathArray paths;
    PathArray disk_paths;  // empty if `disk` and `path` are equal for every start
    std::vector<double> lengths;
    std::vector<double> mtimes;
    std::vector<double> ctimes;
  };

  // The entries that the scan found, in no particular order.
  struct Found {
    Columns files;   // regular files that a torrent can hold whatever their names
    Columns others;  // everything else that JavaScript must look at
    // For each of the others. The error is an errno, or
    // 0; after an error of stat(2), the mode is 0. Links, and folders that were not entered, have no more
    // than a type. A folder with an error could not be listed.
    std::vector<double> errors;
    std::vector<double> modes;
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
