// Makes one torrent with libtorrent, on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace metainfo {

struct SourceFile {
  std::string path;  // in the torrent, starting with its name, with '/'
  std::string disk_path;
  std::int64_t size = 0;
  bool executable = false;
  bool hidden = false;
};

struct CreateRequest {
  std::vector<SourceFile> files;  // a v1 torrent keeps their order
  bool v1 = false;                // both for a hybrid torrent
  bool v2 = false;
  int piece_length = 0;
  std::string info;   // bencoded dictionary: the keys of `info` that are not about files
  std::string outer;  // bencoded dictionary: the keys beside `info`
};

class CreateTask {
 public:
  explicit CreateTask(CreateRequest request) : request_(std::move(request)) {}
  ~CreateTask() { stop(); }

  // Called by AsyncJob. `finished` is called once, on the new thread, or here if it cannot be started.
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
    std::string message;  // the reason of a failure, in libtorrent's words
    int error = 0;        // errno, if the system gave one
  };
  Outcome& outcome() { return outcome_; }

 private:
  void run() noexcept;
  void make();

  const CreateRequest request_;
  std::atomic<bool> cancelled_{false};
  std::atomic<int> pieces_{0};
  Outcome outcome_;
  std::thread thread_;
};

}  // namespace metainfo
