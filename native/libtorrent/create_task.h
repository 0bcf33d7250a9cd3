// libtorrent makes a torrent, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace metainfo {

struct SourceFile {
  std::string path;  // as the torrent has it, its name first, with '/'
  std::string disk_path;
  std::int64_t size = 0;
  bool executable = false;
  bool hidden = false;
};

struct CreateRequest {
  std::vector<SourceFile> files;  // v1: in their order
  bool v1 = false;                // hybrid: both
  bool v2 = false;
  int piece_length = 0;
  std::string info;   // a bencoded dictionary of what `info` has beside the content
  std::string outer;  // and of what is beside `info`
};

class CreateTask {
 public:
  explicit CreateTask(CreateRequest request) : request_(std::move(request)) {}
  ~CreateTask() { stop(); }

  // For Pending. `finished` is called once, from the thread.
  void start(const std::function<void()>& finished);
  void cancel() { cancelled_ = true; }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  void stop() {
    cancel();
    join();
  }

  int pieces_done() const { return pieces_; }

  enum class End { made, cancelled, failed };
  struct Outcome {
    End end = End::failed;
    std::vector<char> torrent;
    std::string message;  // of a failure, as libtorrent has it
    int error = 0;        // errno, where there is one
  };
  Outcome& outcome() { return outcome_; }

 private:
  void work() noexcept;
  void make();

  const CreateRequest request_;
  std::atomic<bool> cancelled_{false};
  std::atomic<int> pieces_{0};
  Outcome outcome_;
  std::thread thread_;
};

}  // namespace metainfo
